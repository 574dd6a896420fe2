import { parseSync, Visitor, type Comment } from "oxc-parser";

/** `message`: a literal of at least three words outside of tests, which may be shown to a user or operator. */
export type TextKind = "comment" | "document" | "title" | "message";

export interface Text {
  readonly kind: TextKind;
  /** Line number, from 1. */
  readonly line: number;
  /** A paragraph without line breaks. */
  readonly text: string;
}

const TEST_FUNCTIONS = new Set(["describe", "it", "test"]);
const IS_TEST = /^test\/|\.test\.tsx?$/;
const IS_SENTENCE = /^[^\s<>{}]*[A-Za-z][^\n]*\s\S+\s\S+/;

/** Returns the English texts of a TypeScript or Markdown file; empty for other files. */
export function textsOf(path: string, source: string): Text[] {
  if (path.endsWith(".md")) return paragraphsOf(source);
  return /\.tsx?$/.test(path) ? codeTextsOf(path, source) : [];
}

function codeTextsOf(path: string, source: string): Text[] {
  const { program, comments } = parseSync(path, source);
  const lineAt = lineCounter(source);
  const texts: Text[] = commentsOf(comments, source).map(({ start, text }) => ({
    kind: "comment",
    line: lineAt(start),
    text,
  }));
  const add = (kind: TextKind, start: number, text: string): void => {
    if (IS_SENTENCE.test(text)) texts.push({ kind, line: lineAt(start), text });
  };
  const isTest = IS_TEST.test(path);
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      const name = callee.type === "MemberExpression" ? callee.object : callee;
      if (name.type !== "Identifier" || !TEST_FUNCTIONS.has(name.name)) return;
      if (title?.type === "Literal") add("title", title.start, String(title.value));
      else if (title?.type === "TemplateLiteral") add("title", title.start, templateText(title));
    },
    Literal({ value, start }) {
      if (!isTest && typeof value === "string") add("message", start, value);
    },
    TemplateLiteral(template) {
      if (!isTest) add("message", template.start, templateText(template));
    },
    JSXText({ value, start }) {
      if (!isTest) add("message", start, value.trim().replaceAll(/\s+/g, " "));
    },
  }).visit(program);
  return texts;
}

const templateText = ({
  quasis,
}: {
  readonly quasis: readonly { readonly value: { readonly raw: string } }[];
}): string => quasis.map(({ value }) => value.raw).join("X");

/** Returns the texts of comments. Comments on adjacent lines are one text; a tag such as `@throws` begins a new one. */
function commentsOf(comments: readonly Comment[], source: string): { start: number; text: string }[] {
  const texts: { start: number; end: number; text: string }[] = [];
  for (const { type, value, start, end } of comments) {
    const previous = texts.at(-1);
    if (type === "Block") {
      const lines = value.replaceAll(/^\s*\*+/gm, "").trim();
      for (const text of lines.split(/\n\s*\n|(?<=[\n.:;] *)(?=@[a-z])/))
        texts.push({ start, end, text: joined(text) });
    } else if (previous !== undefined && source.slice(previous.end, start).trim() === "") {
      previous.text += ` ${value.trim()}`;
      previous.end = end;
    } else texts.push({ start, end, text: value.trim() });
  }
  return texts;
}

/** Returns paragraphs, list items and table rows, without code. */
function paragraphsOf(source: string): Text[] {
  const texts: { kind: "document"; line: number; text: string }[] = [];
  let isCode = false;
  let isOpen = false;
  for (const [index, line] of source.split("\n").entries()) {
    if (/^\s*```/.test(line)) isCode = !isCode;
    const text = line.trim();
    if (isCode || text === "" || /^```|^[|: -]+$/.test(text)) {
      isOpen = false;
      continue;
    }
    const last = texts.at(-1);
    const startsOwn = /^([-*+|#>]|\d+\.)/.test(text);
    if (isOpen && !startsOwn && last !== undefined) last.text += ` ${text}`;
    else texts.push({ kind: "document", line: index + 1, text: text.replace(/^([-*+>#]+|\d+\.)\s+/, "") });
    isOpen = !/^[|#]/.test(text);
  }
  return texts;
}

const joined = (text: string): string => text.trim().replaceAll(/\s+/g, " ");

function lineCounter(source: string): (offset: number) => number {
  const starts = [...source.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    const after = starts.findIndex((start) => start >= offset);
    return (after === -1 ? starts.length : after) + 1;
  };
}
