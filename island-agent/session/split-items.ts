import { charsOf, isModelItem, type OutputItem } from "../../shared/output.ts";

/** Most items of one frame. Source: shared/protocol/from-island.ts. */
const MAX_ITEMS = 10_000;
/** Bytes for the field names and numbers of an item, and for the rest of a frame. */
const ITEM_BYTES = 96;
const FRAME_BYTES = 512;

/** Splits output, in order, into groups for frames of at most `maxFrameBytes`. A larger item is a group of its own. */
export function splitItems(items: readonly OutputItem[], maxFrameBytes: number): OutputItem[][] {
  if (items.length === 1) return [[...items]];
  const groups: OutputItem[][] = [];
  let group: OutputItem[] = [];
  let bytes = FRAME_BYTES;
  for (const item of items) {
    const itemBytes = maxItemBytes(item);
    if (group.length === MAX_ITEMS || (group.length > 0 && bytes + itemBytes > maxFrameBytes)) {
      groups.push(group);
      group = [];
      bytes = FRAME_BYTES;
    }
    group.push(item);
    bytes += itemBytes;
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

/** An upper bound for the size of a frame with these items in MessagePack. */
export function maxBytes(items: readonly OutputItem[]): number {
  return items.reduce((sum, item) => sum + maxItemBytes(item), FRAME_BYTES);
}

/** A UTF-16 unit takes at most 3 bytes in UTF-8. */
function maxItemBytes(item: OutputItem): number {
  if (isModelItem(item)) return ITEM_BYTES + charsOf(item) * 3;
  return item.type === "image" ? ITEM_BYTES + item.data.length * 3 : ITEM_BYTES;
}
