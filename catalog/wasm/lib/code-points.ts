import { toLower } from "./characters";
import { Text } from "./text";
import { codePointAt, countCodePoints, lengthOf } from "./utf8";

/** The code points of validated text, in lower case on request. */
export function codePointsOf(text: Text, isLower: bool): StaticArray<u32> {
  const codePoints = new StaticArray<u32>(countCodePoints(text));
  let count = 0;
  for (let at = 0; at < text.length; at += lengthOf(text.at(at))) {
    const codePoint = codePointAt(text, at);
    codePoints[count++] = isLower ? toLower(codePoint) : codePoint;
  }
  return codePoints;
}
