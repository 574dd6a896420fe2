import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Utility } from "./utility.ts";

const statistics = new Utility("text-statistics");
const slugs = new Utility("slugify");
const replacer = new Utility("text-replace");
const wrapper = new Utility("word-wrap");
const distances = new Utility("levenshtein");

const words = fc.string({ unit: "binary" });

describe("text-statistics", () => {
  const count = (text: string): Record<string, unknown> => statistics.output({ text });

  it("counts characters, bytes, lines, words and sentences", () => {
    expect(count("Don't panic! 3.14 is π.\nÉté… et 東京。はい。")).toMatchObject({
      ...{ characters: 38, characters_without_spaces: 31, bytes: 55, lines: 2 },
      ...{ words: 8, distinct_words: 8, sentences: 5 },
    });
  });
  it("lists the most frequent words in lower case, the earliest first for equal counts", () => {
    const { top_words: top } = count("Reef lagoon REEF atoll Lagoon reef éTÉ Été");
    expect(top).toEqual([
      { word: "reef", count: 3 },
      { word: "lagoon", count: 2 },
      { word: "été", count: 2 },
      { word: "atoll", count: 1 },
    ]);
  });
  it("lists at most twenty words", () => {
    const text = Array.from({ length: 600 }, (_, at) => "x".repeat((at % 30) + 1)).join(" ");
    expect(count(text)).toMatchObject({
      words: 600,
      distinct_words: 30,
      top_words: Array.from({ length: 20 }, () => ({ word: expect.any(String), count: 20 })),
    });
  });
  it("returns the same counts as JavaScript", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "é", "Я", "猫", "7", " ", "\n", "-", "😀", "\u00a0"), minLength: 1 }),
        (text) => {
          const found = text.toLowerCase().match(/\p{L}+/gu) ?? [];
          expect(count(text)).toMatchObject({
            characters: Array.from(text).length,
            bytes: Buffer.byteLength(text),
            lines: text.split("\n").length,
            words: found.length,
            distinct_words: new Set(found).size,
          });
        },
      ),
    );
  });
});

describe("slugify", () => {
  const slug = (text: string, options: object = {}): string =>
    slugs.output<{ slug: string }>({ text, ...options }).slug;

  it("removes the marks of all Latin letters that Unicode decomposes", () => {
    const letters = Array.from({ length: 0x1f00 }, (_, at) => String.fromCodePoint(at)).filter((letter) =>
      /^\p{Script=Latin}$/u.test(letter),
    );
    const plain = letters.filter((letter) => /^[A-Za-z]\p{M}*$/u.test(letter.normalize("NFD")));
    expect(plain.length).toBeGreaterThan(500);
    for (const letter of plain) {
      const expected = letter.normalize("NFD").charAt(0);
      expect([letter, slug(letter, { lowercase: false })]).toEqual([letter, expected]);
      expect([letter, slug(letter.normalize("NFD"), { lowercase: false })]).toEqual([letter, expected]);
    }
  });
  it.each([
    ["  Île de Ré: où est l'été?  ", "ile-de-re-ou-est-lete"],
    ["Straße nach Łódź & Ærø", "strasse-nach-lodz-aero"],
    ["C++ / C# -- 2.0", "c-c-2-0"],
    ["İstanbul, ığdır", "istanbul-igdir"],
    ["Þórr’s ŒUVRE", "thorrs-oeuvre"],
  ])("turns %j into %s", (text, expected) => {
    expect(slug(text)).toBe(expected);
  });
  it("keeps other scripts on request", () => {
    expect(slug("Привет, 世界 Ω!", { keep_unicode: true, separator: "_" })).toBe("привет_世界_ω");
    expect(slug("Привет world")).toBe("world");
  });
  it("truncates between words if possible", () => {
    expect(slug("one two three", { max_length: 8 })).toBe("one-two");
    expect(slug("one two three", { max_length: 7 })).toBe("one-two");
    expect(slug("oneword", { max_length: 3 })).toBe("one");
  });
  it("fails if no characters are left", () => {
    expect(slugs.error({ text: "…!" })).toContain("no Latin letter or digit");
    expect(slugs.error({ text: "a", separator: "--" })).toContain('"separator"');
  });
  it("outputs only URL characters, and is idempotent", () => {
    fc.assert(
      fc.property(words, (text) => {
        const made = slug(`x${text}`);
        expect(made).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(slug(made)).toBe(made);
      }),
    );
  });
});

describe("text-replace", () => {
  interface Replaced {
    readonly text: string;
    readonly count: number;
    readonly counts: number[];
  }
  const replace = (text: string, pairs: Record<string, string>, options: object = {}): Replaced =>
    replacer.output<Replaced>({
      text,
      replacements: Object.entries(pairs).map(([find, replace]) => ({ find, replace })),
      ...options,
    });

  it("does not search replaced text, so that names can be swapped", () => {
    expect(replace("reef lagoon reef", { reef: "lagoon", lagoon: "reef" })).toEqual({
      text: "lagoon reef lagoon",
      count: 3,
      counts: [2, 1],
    });
  });
  it("prefers the first of several matching replacements", () => {
    expect(replace("abab", { ab: "1", aba: "2" }).text).toBe("11");
    expect(replace("abab", { aba: "2", ab: "1" }).text).toBe("2b");
  });
  it("ignores case or matches whole words on request", () => {
    expect(replace("Été, ÉTÉ étés", { été: "x" }, { ignore_case: true }).text).toBe("x, x xs");
    expect(replace("cat cats cat_ 猫cat (cat)", { cat: "dog" }, { whole_words: true }).text).toBe(
      "dog cats cat_ 猫cat (dog)",
    );
  });
  it("replaces one text like replaceAll", () => {
    const some = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀") });
    fc.assert(
      fc.property(some, some, words, (text, find, put) => {
        fc.pre(find !== "");
        expect(replace(text, { [find]: put })).toEqual({
          text: text.replaceAll(find, () => put),
          count: text.split(find).length - 1,
          counts: [text.split(find).length - 1],
        });
      }),
    );
  });
  it.each([
    [{ text: "a", replacements: [{ find: "", replace: "x" }] }, '"find" must not be empty'],
    [{ text: "a", replacements: [{ find: "a" }] }, 'object with "find" and "replace"'],
    [{ text: "a", replacements: "a" }, '"replacements" must be a list'],
    [{ text: "a".repeat(100_000), replacements: [{ find: "a", replace: "b".repeat(10_000) }] }, "larger than 4 MB"],
  ])("refuses %#: %s", (input, message) => {
    expect(replacer.error(input)).toContain(message);
  });
});

describe("word-wrap", () => {
  const wrap = (text: string, options: object): string => wrapper.output<{ text: string }>({ text, ...options }).text;

  it("breaks lines at spaces and keeps existing breaks", () => {
    expect(wrap("one two three\n  four five\n\nsix", { width: 8 })).toBe("one two\nthree\n  four\nfive\n\nsix");
  });
  it("joins the lines of a paragraph first on request", () => {
    expect(wrap("one\ntwo\r\nthree\n \nfour", { width: 80, reflow: true })).toBe("one two three\n\nfour");
  });
  it("keeps long words whole, or breaks them on request", () => {
    expect(wrap("a abcdefgh", { width: 4 })).toBe("a\nabcdefgh");
    expect(wrap("a abcdefgh", { width: 4, break_words: true })).toBe("a\nabcd\nefgh");
  });
  it("counts two columns for East Asian characters and none for marks", () => {
    expect(wrap("東京 大阪 abc", { width: 7 })).toBe("東京\n大阪\nabc");
    expect(wrap("e\u0301te\u0301 ete", { width: 7 })).toBe("e\u0301te\u0301 ete");
    expect(wrap("東京大阪", { width: 5, break_words: true })).toBe("東京\n大阪");
  });
  it("keeps to the width, keeps all words, and counts the lines", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\n") });
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), fc.boolean(), (text, width, reflow) => {
        const made = wrapper.output<{ text: string; lines: number }>({ text, width, reflow });
        expect(made.text.match(/\S+/g)).toEqual(text.match(/\S+/g));
        expect(made.lines).toBe(made.text.split("\n").length);
        for (const line of made.text.split("\n"))
          if (line.trim().includes(" ")) expect(line.length).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe("levenshtein", () => {
  /** Computes the distance by its definition, with memoization. */
  function distance(a: string[], b: string[], known = new Map<string, number>()): number {
    const key = `${a.length} ${b.length}`;
    const found = known.get(key) ?? Math.max(a.length, b.length);
    if (known.has(key) || a.length === 0 || b.length === 0) return found;
    const [restA, restB] = [a.slice(1), b.slice(1)];
    const least = Math.min(
      distance(restA, restB, known) + (a[0] === b[0] ? 0 : 1),
      distance(restA, b, known) + 1,
      distance(a, restB, known) + 1,
    );
    known.set(key, least);
    return least;
  }

  it("returns 3 for kitten and sitting", () => {
    expect(distances.output({ a: "kitten", b: "sitting" })).toEqual({ distance: 3, similarity: 0.5714 });
  });
  it("returns the distance that its definition gives, in characters", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀"), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(distances.output({ a, b })).toMatchObject({ distance: distance(Array.from(a), Array.from(b)) });
      }),
    );
  });
  it("ignores case on request", () => {
    expect(distances.output({ a: "ÉTÉ", b: "été", ignore_case: true })).toEqual({ distance: 0, similarity: 1 });
    expect(distances.output({ a: "", b: "" })).toEqual({ distance: 0, similarity: 1 });
  });
  it("reports progress on long texts", () => {
    const { lines } = distances.raw(JSON.stringify({ a: "a".repeat(5_000), b: "b" }));
    expect(lines).toEqual([
      { type: "progress", step: 2_000, total: 5_000 },
      { type: "progress", step: 4_000, total: 5_000 },
      { type: "done", output: { distance: 5_000, similarity: 0 } },
    ]);
  });
  it("rejects texts that would take too long", () => {
    expect(distances.error({ a: "a".repeat(20_001), b: "" })).toContain("at most 20000 characters");
  });
});
