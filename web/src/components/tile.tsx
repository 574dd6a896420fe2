/** A labelled number, in a `dl` of the class `tiles`. */
export function Tile({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div class="tile">
      <dt>{label}</dt>
      <dd class="num">{value}</dd>
    </div>
  );
}
