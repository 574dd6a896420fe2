/** Base letters (Unicode's canonical decomposition) of U+00C0 to U+024F; a dot for characters without one. */
const LATIN =
  "AAAAAA.CEEEEIIII.NOOOOO..UUUUY..aaaaaa.ceeeeiiii.nooooo..uuuuy.y" +
  "AaAaAaCcCcCcCcDd..EeEeEeEeEeGgGgGgGgHh..IiIiIiIiI...JjKk.LlLlLl." +
  "...NnNnNn...OoOoOo..RrRrRrSsSsSsSsTtTt..UuUuUuUuUuUuWwYyYZzZzZz." +
  "................................Oo.............Uu..............." +
  ".............AaIiOoUuUuUuUuUu.AaAa....GgKkOoOo..j...Gg..NnAa...." +
  "AaAaEeEeIiIiOoOoRrRrUuUuSsTt..Hh......AaEeOoOoOoOoYy............" +
  "................";

/** Base letters of U+1E00 to U+1EFF, in the same format. */
const LATIN_ADDITIONAL =
  "AaBbBbBbCcDdDdDdDdDdEeEeEeEeEeFfGgHhHhHhHhHhIiIiKkKkKkLlLlLlLlMm" +
  "MmMmNnNnNnNnOoOoOoOoPpPpRrRrRrRrSsSsSsSsSsTtTtTtTtUuUuUuUuUuVvVv" +
  "WwWwWwWwWwXxXxYyZzZzZzhtwy......AaAaAaAaAaAaAaAaAaAaAaAaEeEeEeEe" +
  "EeEeEeEeIiIiOoOoOoOoOoOoOoOoOoOoOoOoUuUuUuUuUuUuUuYyYyYyYy......";

/** Letters without a decomposition, in their usual ASCII spelling. */
const SPELLED =
  "ßss ẞSS ÆAE æae ØO øo ÞTH þth ÐD ðd ĐD đd ĦH ħh ıi ĸk ŁL łl ŊNG ŋng ŒOE œoe ŦT ŧt ſs ƀb ƁB ƉD ƊD ƏE ƑF ƒf ƗI ƘK ƙk ƠO ƤP ƥp ƫt ƬT ƭt ƮT ƲV ƳY ƴy ƵZ ƶz ǝe ǤG ǥg ȡd Ȥz ȴl ȵn ȶt ȺA ȻC ȼc ȽL ȾT ȿs ɀz ɃB ɄU ɆE ɇe ɈJ ɉj ɋq ɌR ɍr ɎY ɏy əe";

/** A Latin letter as one or two ASCII letters; "" for other characters. */
export function foldLatin(codePoint: u32): string {
  const folded = lookUp(codePoint);
  if (folded != "" && folded != ".") return folded;
  for (let at = 0; at < SPELLED.length;) {
    let end = SPELLED.indexOf(" ", at);
    if (end < 0) end = SPELLED.length;
    if ((SPELLED.charCodeAt(at) as u32) == codePoint) return SPELLED.substring(at + 1, end);
    at = end + 1;
  }
  return "";
}

function lookUp(codePoint: u32): string {
  if (codePoint - 0xc0 < (LATIN.length as u32)) return LATIN.charAt(codePoint - 0xc0);
  return LATIN_ADDITIONAL.charAt(codePoint - 0x1e00);
}
