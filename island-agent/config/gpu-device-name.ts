/**
 * Name of a device in the Container Device Interface: `vendor.com/class=name`. Source: CDI specification 0.8, "Fully
 * Qualified Device Name".
 */
const CDI_NAME = /^[a-z0-9][a-z0-9.-]*\/[A-Za-z][\w.-]*=[\w][\w.:-]*$/;
/** Name for NVIDIA's runtime: an index, or a GPU or a part of one (MIG), named by its UUID or as `0:1`. */
const NVIDIA_NAME = /^(?:\d{1,3}(?::\d{1,3})?|(?:GPU|MIG)-[\w/-]{1,100})$/;
const MAX_LENGTH = 200;

/** Returns whether the name is valid for a GPU, or a part of one. */
export function isGpuDevice(name: string): boolean {
  return name.length <= MAX_LENGTH && (isCdiDevice(name) || NVIDIA_NAME.test(name));
}

export function isCdiDevice(name: string): boolean {
  return CDI_NAME.test(name);
}
