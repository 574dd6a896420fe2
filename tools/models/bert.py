"""BERT and DistilBERT with two small layers, and the heads of the tasks."""
import torch
from torch import nn

from folder import export, labels, start, write_json
from transformer import Encoder

WIDTH, HEADS, LAYERS, POSITIONS = 32, 2, 2, 64


class Bert(nn.Module):
    """Word, position and (unless `distilled`) segment embeddings, then the encoder. Returns [batch, sequence, WIDTH]."""

    def __init__(self, vocabulary_size, distilled=False):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocabulary_size, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.types = None if distilled else nn.Embedding(2, WIDTH)
        self.norm, self.encoder = nn.LayerNorm(WIDTH), Encoder(WIDTH, HEADS, LAYERS)
        for table in (self.words, self.positions, self.types):
            if table is not None:
                nn.init.normal_(table.weight, std=0.5)

    def forget_places(self):
        """Ignores the order of words, so that texts may be longer than in training."""
        self.positions = None

    def forward(self, input_ids, attention_mask, token_type_ids=None):
        x = self.words(input_ids)
        if self.positions is not None:
            x = x + self.positions(torch.arange(input_ids.shape[1]))
        if self.types is not None:
            x = x + self.types(token_type_ids)
        return self.encoder(self.norm(x), attention_mask)


class SequenceClassifier(nn.Module):
    def __init__(self, vocabulary_size, classes, distilled=False):
        super().__init__()
        self.bert = Bert(vocabulary_size, distilled)
        self.pooler, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, classes)
        self.activation = torch.relu if distilled else torch.tanh

    def classify(self, states):
        return self.head(self.activation(self.pooler(states[:, 0])))

    def forward(self, *tokens):
        return self.classify(self.bert(*tokens))


class TokenClassifier(nn.Module):
    def __init__(self, vocabulary_size, classes):
        super().__init__()
        self.bert, self.head = Bert(vocabulary_size), nn.Linear(WIDTH, classes)

    def forward(self, *tokens):
        return self.head(self.bert(*tokens))


def write(name, module, tokenizer, architecture, outputs, classes=(), model_type="bert", place="onnx", longest=POSITIONS):
    """Writes the whole folder, at a `place` as start() takes it. @param longest  text, in tokens. @param outputs  name -> names of its dimensions. @returns the folder"""
    folder = start(name, place)
    sizes = {
        "bert": {
            "hidden_size": WIDTH,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS,
            "intermediate_size": 2 * WIDTH,
        },
        "distilbert": {"dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 2 * WIDTH},
    }[model_type]
    config = {
        "model_type": model_type,
        "architectures": [architecture],
        "vocab_size": tokenizer.size,
        "max_position_embeddings": longest,
        "pad_token_id": 0,
        **sizes,
        **(labels(*classes) if classes else {}),
    }
    write_json(
        folder,
        config=config,
        **tokenizer.files("DistilBertTokenizer" if model_type == "distilbert" else "BertTokenizer", longest),
    )
    # Two rows of different length, so that the export treats no dimension as constant.
    names = ["input_ids", "attention_mask", "token_type_ids"][: 2 if model_type == "distilbert" else 3]
    example = tokenizer.batch(["a b c", "a"])
    export(module, folder, "model", {n: (x, ["batch", "sequence"]) for n, x in zip(names, example)}, outputs)
    return folder
