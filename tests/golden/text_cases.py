"""Strings and chats with the token ids and texts that transformers makes of them.

Imported by make_golden.py and smollm2.py; nothing to run here.
"""

STRINGS = [
    "The reader counted 12,750 cards in 1884; she'll count them again, won't she?",
    "  two leading spaces,\ttabs\t\tand trailing spaces   ",
    "line one\nline two\r\n\r\n\n   indented\n",
    "naïve café — “quoted” … Größe Æsir, œuvre",
    "日本語のテキストと漢字、한국어 문장, русский текст, العربية",
    "emoji 👩‍👩‍👧 🏳️‍🌈 👍🏽 and combining e\u0301 a\u030a, nbsp\u00a0em\u2003ideographic\u3000space",
    "x  42   7 \n 8    y",
    "3.14159 1e-5 ½ ² ٣٤ ४५ Ⅻ 100000000 v1.2.3-rc4",
    "def f(x):\n    return {'a': x**2, \"b\": [1, 2]}  # it's, we've, I'M, THEY'RE",
    "<|im_start|>user\nhello<|im_end|>\n<|endoftext|> <|im_start |> <|not_special|>",
    "",
    "\x00\x01\x7f control \u200b zero width \ufeff bom \U0010ffff last",
    "a" * 40 + " " * 17 + "!?!?...---" + "\n" * 5,
]

CHATS = [
    [{"role": "user", "content": "Where are the cards?"}],
    [
        {"role": "system", "content": "Answer from the documents."},
        {"role": "user", "content": "  Who counted them?\n"},
        {"role": "assistant", "content": "The librarian."},
        {"role": "user", "content": "When? <|im_end|>"},
    ],
]


def make(tokenizer):
    """`ids`: special-token text is parsed; `ids_plain`: it is plain text. Neither adds a BOS."""
    strings = []
    for text in STRINGS:
        ids = tokenizer.encode(text, add_special_tokens=False)
        plain = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text, text
        assert tokenizer.decode(plain, clean_up_tokenization_spaces=False) == text, text
        strings.append({"text": text, "ids": ids, "ids_plain": plain})
    chats = []
    for messages in CHATS:
        for add in (True, False):
            text = tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=add
            )
            chats.append({"messages": messages, "add_generation_prompt": add, "text": text})
    return {"tokenizer": strings, "chat": chats}
