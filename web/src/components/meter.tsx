/** A bar for a share, with its value as text. */
export function Meter({
  label,
  share,
  text,
}: {
  readonly label: string;
  readonly share: number;
  readonly text: string;
}) {
  return (
    <div class="meter">
      <span>{label}</span>
      <span class="meter-bar" aria-hidden="true">
        <span style={{ width: `${Math.round(Math.min(1, share) * 100)}%` }} />
      </span>
      <span class="num">{text}</span>
    </div>
  );
}
