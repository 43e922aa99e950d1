"""The notebooks of examples run as they are stored, on the demo model. See test_package.py for the environment."""
import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))
BINARY = Path(os.environ.get("LOOSELEAF_BIN", ROOT / "build/bin/looseleaf"))

# Runs behind the notebook's cells, and sees their variables.
HELD = """
assert told["targets"] == nested and sum(map(len, nested[1:])) > 0
assert np.abs(logprobs["weave:1:context=causal"] - logprobs["full"]).max() < 2e-3
assert np.abs(logprobs["full"] - logprobs["reuse"]).max() > 2e-2  # or the line above says nothing
assert np.array_equal(logprobs["weave:0"], logprobs["reuse"])
assert scores.shape == (layers, len(words)) and (scores >= 0).all() and (scores.sum(axis=1) < 1).all()
# Each method's points are dearer and better from left to right, and between `reuse` and `full`.
for points in curves.values():
    assert all(a["flops"] < b["flops"] and a["nll"] > b["nll"] for a, b in zip([reuse, *points], points))
    assert points[-1]["flops"] < full["flops"] and full["nll"] < reuse["nll"]
"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_stored_without_outputs(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.skipif(not os.environ.get("LOOSELEAF_SMOLLM2"), reason="LOOSELEAF_SMOLLM2 names no model")
def test_repair(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOSELEAF_LIBRARY", os.environ.get("LOOSELEAF_LIBRARY", str(BINARY.parent.parent / "liblooseleaf.so")))
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR"):  # nothing is left in the home folder
        monkeypatch.setenv(name, str(tmp_path / name))
    notebook = nbformat.read(ROOT / "examples/notebooks/repair.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(HELD))
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(ROOT / "examples/notebooks")}}).execute()
    pictures = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
                if "image/png" in output.get("data", {})]
    assert len(pictures) == 4
    if kept := os.environ.get("LOOSELEAF_KEEP_NOTEBOOK"):
        nbformat.write(notebook, kept)
