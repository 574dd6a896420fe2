"""Shared by the models that generate text: training on pairs, greedy decoding, the two ONNX files of an encoder-decoder."""
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from folder import export, start, write_json
from training import fit
from transformer import Decoder, Encoder
from word_units import END, PAD

WIDTH, HEADS, LAYERS, POSITIONS = 48, 4, 1, 48
SIZES = {
    "d_model": WIDTH,
    "encoder_layers": LAYERS,
    "decoder_layers": LAYERS,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
}
IGNORED = -100


class TextEncoder(nn.Module):
    """The encoder of BART and Marian: token and position embeddings, then the layers."""

    def __init__(self, vocabulary_size):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary_size, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.norm, self.encoder = nn.LayerNorm(WIDTH), Encoder(WIDTH, HEADS, LAYERS)

    def forward(self, input_ids, attention_mask):
        x = self.tokens(input_ids) + self.positions(torch.arange(input_ids.shape[1]))
        return self.encoder(self.norm(x), attention_mask)


class EncoderDecoder(nn.Module):
    """`encoder` gets the inputs; the decoder gets the second input, the attention mask, only if `masked`."""

    def __init__(self, encoder, vocabulary_size, masked, pre=False, width=WIDTH):
        super().__init__()
        self.encoder, self.masked = encoder, masked
        self.decoder = Decoder(vocabulary_size, width, HEADS, LAYERS, POSITIONS, pre)

    def forward(self, inputs, tokens):
        return self.decoder(tokens, self.encoder(*inputs), inputs[1] if self.masked else None)[0]

    def loss(self, inputs, prompts, wanted):
        """@param prompts  the first tokens of each answer, int64 [batch, n]. @param wanted  the rest with the end token, padded with IGNORED."""
        tokens = torch.cat([prompts, wanted.clamp(min=0)], 1)
        scores = self(inputs, tokens[:, :-1])[:, prompts.shape[1] - 1 :]
        return cross_entropy(scores.transpose(1, 2), wanted)

    @torch.no_grad()
    def count_right(self, inputs, prompts, wanted):
        """Number of answers that are entirely right, decoded greedily."""
        states, tokens = self.encoder(*inputs), prompts
        for _ in range(wanted.shape[1]):
            scores, _ = self.decoder(tokens, states, inputs[1] if self.masked else None)
            tokens = torch.cat([tokens, scores[:, -1:].argmax(-1)], 1)
        said = tokens[:, prompts.shape[1] :]
        return ((said == wanted) | (wanted == IGNORED)).all(1).sum().item()


def pad(rows):
    longest = max(map(len, rows))
    return torch.tensor([row + [IGNORED] * (longest - len(row)) for row in rows])


class DecoderStep(nn.Module):
    """The decoder with its cache as separate inputs and outputs, and the cross attention of each layer last if `attentions`."""

    def __init__(self, model, attentions=False):
        super().__init__()
        self.model, self.attentions = model, attentions

    def forward(self, input_ids, states, *rest):
        mask, cache = (rest[0], rest[1:]) if self.model.masked else (None, rest)
        pasts = [(cache[i], cache[i + 1]) for i in range(0, len(cache), 2)]
        scores, caches = self.model.decoder(input_ids, states, mask, pasts)
        crossed = [layer.cross_attention.weights for layer in self.model.decoder.layers] if self.attentions else []
        return (scores, *(tensor for own, _ in caches for tensor in own), *crossed)


def write(folder, model, inputs, states_length, cache_name="{}.decoder.{}", attentions=False):
    """
    Writes encoder_model.onnx and decoder_model_merged.onnx. One decoder graph serves the first step, with an empty cache, and the later
    ones: it computes keys and values of the encoder's states in each step, so it needs no branch.
    @param inputs       the encoder's, as export() takes them
    @param cache_name   of layer and "key" or "value", after `past_key_values.` and `present.`
    @param attentions   whether `cross_attentions.<layer>` are outputs, as in exports with `output_attentions=True`
    """
    export(model.encoder, folder, "encoder_model", inputs, {"last_hidden_state": ["batch_size", states_length, None]})
    states = model.encoder(*(example for example, _ in inputs.values())).detach()
    step = {
        "input_ids": (torch.zeros(states.shape[0], 3, dtype=torch.long), ["batch_size", "decoder_sequence_length"]),
        "encoder_hidden_states": (states, ["batch_size", states_length, None]),
    }
    if model.masked:
        step["encoder_attention_mask"] = inputs["attention_mask"]
    attention = model.decoder.layers[0].self_attention
    names = [cache_name.format(i, part) for i in range(len(model.decoder.layers)) for part in ("key", "value")]
    past = torch.zeros(states.shape[0], attention.heads, 2, attention.head_width)
    step |= {
        f"past_key_values.{name}": (past, ["batch_size", None, "past_decoder_sequence_length", None]) for name in names
    }
    outputs = {"logits": ["batch_size", "decoder_sequence_length", None]}
    outputs |= {
        f"present.{name}": ["batch_size", None, "past_decoder_sequence_length + decoder_sequence_length", None]
        for name in names
    }
    if attentions:
        shape = ["batch_size", None, "decoder_sequence_length", None]
        outputs |= {f"cross_attentions.{i}": shape for i in range(len(model.decoder.layers))}
    export(DecoderStep(model, attentions), folder, "decoder_model_merged", step, outputs)


def make_text_to_text(name, tokenizer, tokenizer_class, config, begin, draw, held_out, examples):
    """
    Trains and writes a model from text to text (BART, Marian).
    @param config    `model_type` and `architectures`
    @param begin     the token that answers begin with
    @param draw      () -> (text, answer) pairs of a training batch
    @param held_out  () -> pairs that are not trained on
    @param examples  two texts for the export
    @returns how many of the held-out answers are entirely right
    """
    model = EncoderDecoder(TextEncoder(tokenizer.size), tokenizer.size, masked=True)

    def encode(pairs):
        texts, answers = zip(*pairs)
        return (
            tokenizer.batch(texts),
            torch.full((len(pairs), 1), begin),
            pad([[*tokenizer.encode(text), END] for text in answers]),
        )

    fit(model, 350, lambda: model.loss(*encode(draw())), rate=2e-3)
    right = model.count_right(*encode(held_out()))
    folder = start(name)
    tokens = {"decoder_start_token_id": begin, "eos_token_id": END, "pad_token_id": PAD}
    write_json(
        folder,
        **tokenizer.files(tokenizer_class),
        config={
            **config,
            "is_encoder_decoder": True,
            "vocab_size": tokenizer.size,
            "max_position_embeddings": POSITIONS,
            **SIZES,
            **tokens,
        },
        generation_config={**tokens, "max_new_tokens": 32},
    )
    ids, mask = tokenizer.batch(examples)
    both = ["batch_size", "encoder_sequence_length"]
    write(folder, model, {"input_ids": (ids, both), "attention_mask": (mask, both)}, "encoder_sequence_length")
    return right
