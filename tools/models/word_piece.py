"""A WordPiece tokenizer over the words of the training data; any other word is split into letters, so none is unknown."""
import re
import string

import torch

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = string.ascii_lowercase + string.digits
PUNCTUATION = ".,?!'-:;"


class WordPiece:
    def __init__(self, sentences):
        words = sorted(
            {word for sentence in sentences for word in self.split(sentence)} - set(LETTERS) - set(PUNCTUATION)
        )
        tokens = [*SPECIAL, *PUNCTUATION, *LETTERS, *(f"##{letter}" for letter in LETTERS), *words]
        self.ids = {token: i for i, token in enumerate(tokens)}
        self.size = len(tokens)

    @staticmethod
    def split(sentence):
        return re.findall(r"[a-z0-9]+|[^\sa-z0-9]", sentence.lower())

    def pieces(self, sentence):
        for word in self.split(sentence):
            yield from [word] if word in self.ids else [word[0], *(f"##{letter}" for letter in word[1:])]

    def batch(self, sentences, pairs=None):
        """[CLS] a [SEP], or [CLS] a [SEP] b [SEP], padded. @returns input_ids, attention_mask, token_type_ids: int64 [batch, sequence]"""
        rows, types = [], []
        for index, sentence in enumerate(sentences):
            first = ["[CLS]", *self.pieces(sentence), "[SEP]"]
            second = [] if pairs is None else [*self.pieces(pairs[index]), "[SEP]"]
            rows.append([self.ids.get(token, 1) for token in first + second])
            types.append([0] * len(first) + [1] * len(second))
        longest = max(map(len, rows))
        pad = lambda row: row + [0] * (longest - len(row))
        return (
            torch.tensor([pad(row) for row in rows]),
            torch.tensor([pad([1] * len(row)) for row in rows]),
            torch.tensor([pad(row) for row in types]),
        )

    def files(self, tokenizer_class="BertTokenizer", longest=64):
        """tokenizer.json, tokenizer_config.json, special_tokens_map.json. Format: huggingface/tokenizers, version 1.0."""
        special = {
            "unk_token": "[UNK]",
            "sep_token": "[SEP]",
            "pad_token": "[PAD]",
            "cls_token": "[CLS]",
            "mask_token": "[MASK]",
        }
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        cls, sep = ({"SpecialToken": {"id": token, "type_id": 0}} for token in ("[CLS]", "[SEP]"))
        single = [cls, {"Sequence": {"id": "A", "type_id": 0}}, sep]
        pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}]
        return {
            "tokenizer": {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [{"id": i, "content": token, **flags} for i, token in enumerate(SPECIAL)],
                "normalizer": {
                    "type": "BertNormalizer",
                    "clean_text": True,
                    "handle_chinese_chars": True,
                    "strip_accents": None,
                    "lowercase": True,
                },
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "post_processor": {
                    "type": "TemplateProcessing",
                    "single": single,
                    "pair": pair,
                    "special_tokens": {
                        token: {"id": token, "ids": [self.ids[token]], "tokens": [token]}
                        for token in ("[CLS]", "[SEP]")
                    },
                },
                "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
                "model": {
                    "type": "WordPiece",
                    "unk_token": "[UNK]",
                    "continuing_subword_prefix": "##",
                    "max_input_chars_per_word": 100,
                    "vocab": self.ids,
                },
            },
            "tokenizer_config": {
                "tokenizer_class": tokenizer_class,
                "model_max_length": longest,
                "do_lower_case": True,
                **special,
            },
            "special_tokens_map": special,
        }
