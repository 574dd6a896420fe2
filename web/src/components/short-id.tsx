/** Characters at the end, by which ids that were made together differ. */
const END_CHARACTERS = 6;

/** An id in a narrow place: what is left out is before its end, which tells ids that were made together apart. */
export function ShortId({ id }: { readonly id: string }) {
  return (
    <span class="short-id id" title={id}>
      <span>{id.slice(0, -END_CHARACTERS)}</span>
      <span>{id.slice(-END_CHARACTERS)}</span>
    </span>
  );
}
