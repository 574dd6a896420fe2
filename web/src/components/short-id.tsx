/** Characters kept at the end, in which ids created at the same time differ. */
const END_CHARACTERS = 6;

/** Shortens an id to the available width. Its end stays, since ids created at the same time differ only there. */
export function ShortId({ id }: { readonly id: string }) {
  return (
    <span class="short-id id" title={id}>
      <span>{id.slice(0, -END_CHARACTERS)}</span>
      <span>{id.slice(-END_CHARACTERS)}</span>
    </span>
  );
}
