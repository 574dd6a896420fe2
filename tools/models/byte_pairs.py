"""CLIP's tokenizer: byte pairs in lower case, `</w>` at the end of a word, 77 tokens with a start and an end."""
import json
from collections import Counter

START, END = "<|startoftext|>", "<|endoftext|>"
LENGTH = 77


def byte_letters():
    """A printable character for each byte, in GPT-2's order."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return [chr(byte) for byte in seen] + [chr(256 + i) for i in range(len(hidden))]


class BytePairs:
    """Merges are learned until every word of `sentences` is one token; any other word is split into pieces."""

    def __init__(self, sentences, padding=END):
        words = sorted({word for sentence in sentences for word in sentence.split()})
        self.merges, split = [], {word: self.letters(word) for word in words}
        while any(len(pieces) > 1 for pieces in split.values()):
            pairs = Counter(pair for pieces in split.values() for pair in zip(pieces, pieces[1:]))
            best = max(sorted(pairs), key=pairs.get)
            self.merges.append(best)
            split = {word: self.join(pieces, best) for word, pieces in split.items()}
        letters = byte_letters()
        tokens = [*letters, *(letter + "</w>" for letter in letters), *("".join(pair) for pair in self.merges)]
        self.ids = {token: i for i, token in enumerate([*tokens, START, END])}
        self.padding, self.size = padding, len(self.ids)

    @staticmethod
    def letters(word):
        return [*word[:-1], word[-1] + "</w>"]

    @staticmethod
    def join(pieces, pair):
        joined = []
        for piece in pieces:
            if joined and (joined[-1], piece) == pair:
                joined[-1] += piece
            else:
                joined.append(piece)
        return joined

    def encode(self, sentence):
        """@returns 77 ids"""
        ids = [self.ids[START]]
        for word in sentence.split():
            pieces = self.letters(word)
            for pair in self.merges:
                pieces = self.join(pieces, pair)
            ids += [self.ids[piece] for piece in pieces]
        ids = [*ids[: LENGTH - 1], self.ids[END]]
        return ids + [self.ids[self.padding]] * (LENGTH - len(ids))

    def write(self, folder):
        """The exporters' files of `tokenizer/`, which do not include tokenizer.json."""
        merges = ["#version: 0.2", *(" ".join(pair) for pair in self.merges), ""]
        (folder / "merges.txt").write_text("\n".join(merges), encoding="utf-8")
        named = {"bos_token": START, "eos_token": END, "unk_token": END, "pad_token": self.padding}
        for name, content in {
            "vocab": self.ids,
            "special_tokens_map": named,
            "tokenizer_config": {
                "tokenizer_class": "CLIPTokenizer",
                "model_max_length": LENGTH,
                "do_lower_case": True,
                "add_prefix_space": False,
                "errors": "replace",
                **named,
            },
        }.items():
            text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
            (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
