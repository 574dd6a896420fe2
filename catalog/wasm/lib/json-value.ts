import { Text } from "./text";
import { TextTable } from "./text-table";

export const enum JsonKind {
  Null,
  True,
  False,
  Number,
  Text,
  List,
  Object,
}

const NO_VALUES: JsonValue[] = [];
const NO_NAMES = new TextTable();

/** A parsed JSON value. Scalars share empty lists to save memory: there can be 100,000 of them. */
export class JsonValue {
  kind: JsonKind;
  /** Number: its original digits, so that none is lost. String: without escapes. */
  text: Text;
  /** A list's items, or the values of an object's `names`, in the order of first occurrence. */
  items: JsonValue[];
  private table: TextTable;

  constructor(kind: JsonKind, text: Text) {
    this.kind = kind;
    this.text = text;
    this.items = kind >= JsonKind.List ? [] : NO_VALUES;
    this.table = kind == JsonKind.Object ? new TextTable() : NO_NAMES;
  }

  get names(): Text[] {
    return this.table.texts;
  }

  /** Index of a name, or -1. */
  indexOf(name: Text): i32 {
    return this.table.indexOf(name);
  }

  get(name: Text): JsonValue | null {
    const at = this.indexOf(name);
    return at < 0 ? null : this.items[at];
  }

  /** If a name occurs twice, the last value is used. */
  set(name: Text, value: JsonValue): void {
    const at = this.table.add(name);
    if (at < this.items.length) this.items[at] = value;
    else this.items.push(value);
  }
}
