/** Removes the secret of `postgres://user:secret@host/db` and `?password=secret` for display. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password === "" && !url.searchParams.has("password")) return address;
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}
