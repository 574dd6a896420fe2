/** `postgres://user:secret@host/db` and `…?password=secret` without the secret, to be shown. Other texts are returned as they are. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password === "" && !url.searchParams.has("password")) return address;
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}
