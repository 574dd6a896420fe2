"""A SentencePiece unigram tokenizer whose pieces are the words of the training data; any other word is split into letters."""
import re
import string

import torch

PAD, END, UNKNOWN = 0, 1, 2
SPECIAL = ["<pad>", "</s>", "<unk>"]
MARK = "▁"


class WordUnits:
    def __init__(self, sentences, languages=()):
        words = sorted({word for sentence in sentences for word in self.split(sentence)})
        letters = [piece for piece in (MARK, *string.ascii_lowercase, *string.digits, *".,?!'-") if piece not in words]
        self.pieces = [*SPECIAL, *languages, *words, *letters]
        self.ids = {piece: i for i, piece in enumerate(self.pieces)}
        # Whole words are more likely than their letters.
        self.scores = [-1.0 if piece in words else -10.0 for piece in self.pieces]
        self.size = len(self.pieces)

    @staticmethod
    def split(sentence):
        return [piece for word in sentence.lower().split() for piece in re.findall(r"▁[^.,?!]+|[.,?!]", MARK + word)]

    def encode(self, sentence):
        return [
            i
            for piece in self.split(sentence)
            for i in ([self.ids[piece]] if piece in self.ids else map(self.ids.get, piece))
        ]

    def batch(self, sentences):
        """Ends with </s>, padded. @returns ids, attention mask: int64 [batch, sequence]"""
        rows = [[*self.encode(sentence), END] for sentence in sentences]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
        return ids, (ids != PAD).long()

    def files(self, tokenizer_class):
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        metaspace = {"type": "Metaspace", "replacement": MARK, "add_prefix_space": True, "prepend_scheme": "always"}
        named = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
        return {
            "tokenizer": {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [{"id": i, "content": token, **flags} for i, token in enumerate(SPECIAL)],
                "normalizer": {"type": "Lowercase"},
                "pre_tokenizer": metaspace,
                "decoder": metaspace,
                "post_processor": {
                    "type": "TemplateProcessing",
                    "pair": [],
                    "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                    "special_tokens": {"</s>": {"id": "</s>", "ids": [END], "tokens": ["</s>"]}},
                },
                "model": {
                    "type": "Unigram",
                    "unk_id": UNKNOWN,
                    "byte_fallback": False,
                    "vocab": [list(pair) for pair in zip(self.pieces, self.scores)],
                },
            },
            "tokenizer_config": {"tokenizer_class": tokenizer_class, "model_max_length": 64, **named},
            "special_tokens_map": named,
        }
