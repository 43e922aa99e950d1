"""A byte-level BPE tokenizer of 320 tokens in the manner of SmolLM2's, as tokenizer.json and as
GGUF metadata.

Imported by make_golden.py and smollm2.py; nothing to run here. Ids: 3 special tokens, the 256 byte
symbols, then 61 merges learned from the text below.
"""

from collections import Counter

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
BOS, EOS = 1, 2
MERGES = 61
CHAT_TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a tiny model.<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
TEXT = """
A loose leaf can be put anywhere in the binder, and taken out again, without the other leaves
knowing of it. The reader who asks a question does not care in which order the leaves were filed;
she wants the one that holds the answer. In 1884 the librarian counted 12,750 cards, wrote a number
on each of them and never moved them again. That was the first mistake. The second was to think
that the order of the cards was the order of the world. There are documents that nobody has read
for 30 years, and there are others that everybody reads every day; it would be foolish to copy
either of them before each reading. What is read often should stay near the reader's hand, what is
read seldom may rest in the cellar, and what was never there can still be written.
"""


def pre_tokenizer():
    """SmolLM2's: every digit alone, then GPT-2's pattern over the byte alphabet."""
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True),
        ]
    )


def learn_merges(text, count):
    """Plain BPE training; among equally frequent pairs the smallest wins."""
    words = Counter(tuple(piece) for piece, _ in pre_tokenizer().pre_tokenize_str(text))
    merges = []
    while len(merges) < count:
        pairs = Counter()
        for word, times in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += times
        known = {a + b for a, b in merges}
        best = min((p for p in pairs if p[0] + p[1] not in known), key=lambda p: (-pairs[p], p))
        merges.append(best)
        words = Counter({merge_pair(word, best): times for word, times in words.items()})
    return merges


def merge_pair(word, pair):
    out, i = [], 0
    while i < len(word):
        joined = word[i : i + 2] == pair
        out.append(word[i] + word[i + 1] if joined else word[i])
        i += 2 if joined else 1
    return tuple(out)


def small_vocabulary():
    """(tokens in id order, merges as pairs)."""
    merges = learn_merges(TEXT, MERGES)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    return SPECIAL + alphabet + [a + b for a, b in merges], merges


def build(tokens, merges, special):
    """A `tokenizers.Tokenizer`; `special` are the tokens that are never split."""
    vocabulary = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizer()
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=True, trim_offsets=True, use_regex=True)
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in special])
    return tokenizer


def fast(tokenizer, chat_template):
    """The same behind transformers' interface, with chat templates and split_special_tokens."""
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        chat_template=chat_template,
        bos_token=SPECIAL[BOS],
        eos_token=SPECIAL[EOS],
        unk_token=SPECIAL[0],
        pad_token=SPECIAL[EOS],
    )


def write_gguf_metadata(writer, tokens, merges):
    """The keys and values that SmolLM2's own GGUF has."""
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if t in SPECIAL else 1 for t in tokens])  # 3: control, 1: normal
    writer.add_token_merges([f"{a} {b}" for a, b in merges])
    writer.add_bos_token_id(BOS)
    writer.add_eos_token_id(EOS)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(EOS)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(CHAT_TEMPLATE)
