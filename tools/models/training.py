"""Training of all models: Adam with warm-up and linear decay, with a fixed seed on one thread."""
import random

import torch


def seed(number):
    """Makes the following computations reproducible."""
    torch.set_num_threads(1)
    # MKL-DNN 2.6.3 of Debian 12 computes wrong gradients of convolutions, different in each run.
    torch.backends.mkldnn.set_flags(False)
    torch.manual_seed(number)
    return random.Random(number)


def fit(module, steps, loss_of, rate=3e-3):
    """@param loss_of  () -> loss of a new batch"""
    module.train()
    optimiser = torch.optim.Adam(module.parameters(), lr=rate)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 50) * (1 - step / steps)
        loss = loss_of()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimiser.step()
        if step % 100 == 0 or step == steps - 1:
            print(f"  step {step}: loss {loss.item():.4f}", flush=True)
    module.eval()
