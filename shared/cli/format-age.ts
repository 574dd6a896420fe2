/** Formats a duration or age in one unit: "40 s", "12 min", "3 h", "5 days". */
export function formatAge(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1_000));
  if (s < 120) return `${s} s`;
  if (s < 7_200) return `${Math.floor(s / 60)} min`;
  return s < 172_800 ? `${Math.floor(s / 3_600)} h` : `${Math.floor(s / 86_400)} days`;
}
