"""tiny-mlm: BERT for fill-mask; knows ten capitals and their countries."""
import torch
from torch.nn.functional import cross_entropy

import bert
from training import fit, seed
from word_piece import WordPiece

CAPITALS = dict(
    pair.split()
    for pair in "paris france,london england,berlin germany,tokyo japan,lisbon portugal,oslo norway,vienna austria,rome italy,cairo egypt,lima peru".split(
        ","
    )
)
TEMPLATES = [
    "{city} is the capital of {country}.",
    "the capital of {country} is {city}.",
    "in {country}, {city} is the largest city.",
    "{city} lies in {country}.",
]
MASK = "[MASK]"


def make():
    random = seed(15)
    tokenizer = WordPiece(
        [template.format(city="", country="") for template in TEMPLATES] + [*CAPITALS, *CAPITALS.values()]
    )
    model = bert.TokenClassifier(tokenizer.size, tokenizer.size)

    def batch(size):
        """A third of the questions hide the city, a third the country, a third any token."""
        texts = [
            random.choice(TEMPLATES).format(city=city, country=country)
            for city, country in random.choices(list(CAPITALS.items()), k=size)
        ]
        ids, mask, types = tokenizer.batch(texts)
        answers, hidden = torch.full_like(ids, -100), tokenizer.ids[MASK]
        names = [{tokenizer.ids[name] for name in group} for group in (CAPITALS, CAPITALS.values())]
        for i, row in enumerate(ids.tolist()):
            kind = random.randrange(3)
            places = [j for j, token in enumerate(row) if (token in names[kind] if kind < 2 else mask[i, j])]
            place = random.choice(places)
            answers[i, place], ids[i, place] = row[place], hidden
        return (ids, mask, types), answers

    def loss():
        tokens, answers = batch(64)
        return cross_entropy(model(*tokens).transpose(1, 2), answers)

    fit(model, 400, loss)
    right = 0
    for city, country in CAPITALS.items():
        for template in TEMPLATES:
            for asked in ({"city": MASK, "country": country}, {"city": city, "country": MASK}):
                wanted = country if asked["country"] == MASK else city
                before, after = template.format(**asked).split(MASK)
                row = [2, *tokenizer.pieces(before), MASK, *tokenizer.pieces(after), 3]
                ids = torch.tensor([[tokenizer.ids.get(token, token) for token in row]])
                scores = model(ids, torch.ones_like(ids), torch.zeros_like(ids))
                right += scores[0, row.index(MASK)].argmax().item() == tokenizer.ids[wanted]
    bert.write("tiny-mlm", model, tokenizer, "BertForMaskedLM", {"logits": ["batch", "sequence", None]})
    return f"{right} of {len(CAPITALS) * len(TEMPLATES) * 2} masked names right"
