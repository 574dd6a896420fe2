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
  /** Lines of paragraphs, headings and code. */
  lines: Text[] = [];
  children: Block[] = [];
  /** Level of a heading, 1 to 6. */
  level: i32 = 0;
  /** Language of code, or empty. */
  info: Text = new Text(0, 0);
  /** First number of a list, or -1 with bullets. */
  start: i32 = -1;
  /** Whether paragraphs of a list become `<p>`. */
  isLoose: bool = false;
  isAfterBlank: bool = false;

  constructor(kind: BlockKind) {
    this.kind = kind;
  }
}
