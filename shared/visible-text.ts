import type { OutputItem } from "./output.ts";

/** A character that is not white space, a control, or invisible by Unicode; U+2800 is a blank Braille pattern. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

export function isVisibleText(text: string): boolean {
  return VISIBLE.test(text);
}

/** Returns whether a client sees something of an item. A tool call or an image is visible, progress is not. */
export function isVisibleItem(item: { readonly type: OutputItem["type"]; readonly content?: string }): boolean {
  if (item.type === "token" || item.type === "reasoning") return isVisibleText(item.content ?? "");
  return item.type !== "progress";
}
