import { Text } from "../text";

export const enum BlockKind {
  Paragraph,
  Heading,
  Code,
  Quote,
  List,
  Item,
  Rule,
}

export class Block {
  kind: BlockKind;
  /** Of paragraphs, headings and code. */
  lines: Text[] = [];
  children: Block[] = [];
  /** Of a heading, 1 to 6. */
  level: i32 = 0;
  /** Of code: the language, or empty. */
  info: Text = new Text(0, 0);
  /** Of a list: its first number, or -1 with bullets. */
  start: i32 = -1;
  /** Of a list: whether its paragraphs become `<p>`. */
  isLoose: bool = false;
  isAfterBlank: bool = false;

  constructor(kind: BlockKind) {
    this.kind = kind;
  }
}
