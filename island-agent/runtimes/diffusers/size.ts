/** Size of latents, or of an image in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}
