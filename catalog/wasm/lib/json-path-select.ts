import { Bytes } from "./bytes";
import { fail } from "./fail";
import { PathSegment, Selector, SelectorKind } from "./json-path";
import { JsonKind, JsonValue } from "./json-value";
import { JsonWriter } from "./json-writer";
import { Text } from "./text";

/** Nodes that a query may visit: `$..*..*` visits many more than the document has. */
const MAX_NODES = 200_000;

/** A value with its name or its index in `parent`; `parent` is null for the whole document. */
export class JsonNode {
  value: JsonValue;
  parent: JsonNode | null;
  place: i32;

  constructor(value: JsonValue, parent: JsonNode | null, place: i32) {
    this.value = value;
    this.parent = parent;
    this.place = place;
  }

  /** Normalized path, RFC 9535 section 2.7: `$['name'][0]`. */
  path(): Text {
    const bytes = new Bytes(64);
    this.putPath(bytes);
    return bytes.text();
  }

  private putPath(bytes: Bytes): void {
    const parent = this.parent;
    if (parent === null) return bytes.put(0x24);
    parent.putPath(bytes);
    bytes.put(0x5b);
    if (parent.value.kind == JsonKind.List) bytes.putInteger(this.place);
    else new JsonWriter(bytes, 0, false, 0x27).text(parent.value.names[this.place]);
    bytes.put(0x5d);
  }
}

/** The nodes that `segments` select from `root`, in RFC 9535's order, possibly with duplicates. */
export function select(root: JsonValue, segments: PathSegment[]): JsonNode[] {
  const selection = new Selection([new JsonNode(root, null, 0)]);
  for (let at = 0; at < segments.length; at++) selection.apply(segments[at]);
  return selection.nodes;
}

class Selection {
  nodes: JsonNode[];
  private next: JsonNode[] = [];
  private seen: i32 = 0;

  constructor(nodes: JsonNode[]) {
    this.nodes = nodes;
  }

  apply(segment: PathSegment): void {
    this.next = [];
    for (let at = 0; at < this.nodes.length; at++) this.visit(this.nodes[at], segment);
    this.nodes = this.next;
  }

  private visit(node: JsonNode, segment: PathSegment): void {
    for (let at = 0; at < segment.selectors.length; at++) this.pick(node, segment.selectors[at]);
    if (!segment.isDescendant) return;
    for (let at = 0; at < node.value.items.length; at++) this.visit(this.child(node, at), segment);
  }

  private pick(node: JsonNode, selector: Selector): void {
    const count = node.value.items.length;
    if (selector.kind == SelectorKind.All) {
      for (let at = 0; at < count; at++) this.add(node, at);
    } else if (selector.kind == SelectorKind.Name) {
      if (node.value.kind == JsonKind.Object) this.add(node, node.value.indexOf(selector.name!));
    } else if (node.value.kind == JsonKind.List) {
      if (selector.kind == SelectorKind.Slice) this.pickSlice(node, selector);
      else
        this.add(
          node,
          (selector.start < 0 ? max<i64>(-1, selector.start + count) : min<i64>(selector.start, count)) as i32,
        );
    }
  }

  /** RFC 9535, section 2.3.4.2. */
  private pickSlice(node: JsonNode, selector: Selector): void {
    const count = node.value.items.length as i64;
    const step = selector.step;
    if (step == 0) return;
    const least: i64 = step > 0 ? 0 : -1;
    const most = step > 0 ? count : count - 1;
    const from = selector.hasStart ? clamp(selector.start, count, least, most) : step > 0 ? 0 : most;
    const to = selector.hasEnd ? clamp(selector.end, count, least, most) : step > 0 ? count : -1;
    if (step > 0) for (let at = from; at < to; at += step) this.add(node, at as i32);
    else for (let at = from; at > to; at += step) this.add(node, at as i32);
  }

  /** @param place index of a child; outside of the list, or -1, there is no child. */
  private add(node: JsonNode, place: i32): void {
    if (place >= 0 && place < node.value.items.length) this.next.push(this.child(node, place));
  }

  private child(node: JsonNode, place: i32): JsonNode {
    if (++this.seen > MAX_NODES) fail<bool>("The query comes across more than 200000 values; ask for less at once");
    return new JsonNode(node.value.items[place], node, place);
  }
}

/** A bound of a slice; negative ones count from the end. */
function clamp(bound: i64, count: i64, least: i64, most: i64): i64 {
  return min(max(bound < 0 ? bound + count : bound, least), most);
}
