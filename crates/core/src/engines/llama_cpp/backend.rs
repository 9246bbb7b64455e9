//! Facts of the backends: alignment and padded sizes.

use crate::dtype::Format;
use crate::machine::Backend;
use crate::model::Tensor;
use crate::units::Bytes;

/// How does a backend lay tensors into a buffer?
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Every tensor starts at a multiple of this many bytes.
    pub(super) alignment: u64,
    /// Rows of quantised tensors are readable up to a multiple of this many values; 1 pads nothing.
    pub(super) row_values: u64,
    /// There is a kernel for the scan of Mamba 1.
    pub(super) scans_mamba1: bool,
}

impl Layout {
    /// CUDA and ROCm share their code (`ggml-cuda.cu: ggml_backend_cuda_buffer_type_get_alignment,
    /// _get_alloc_size`); Metal and the CPU align to 32; Vulkan to what the driver asks of storage
    /// buffers, 16 on the device it was replayed on.
    pub(super) const fn of(backend: Backend) -> Self {
        match backend {
            Backend::Cuda | Backend::Rocm => Self { alignment: 128, row_values: 512, scans_mamba1: true },
            Backend::Vulkan | Backend::Other => Self { alignment: 16, row_values: 1, scans_mamba1: false },
            Backend::Metal | Backend::Cpu => Self { alignment: 32, row_values: 1, scans_mamba1: true },
        }
    }

    /// Bytes that a tensor of `bytes` with rows of `values` values takes in a buffer.
    pub(super) fn allocated(self, bytes: Bytes, format: Format, values: u64) -> Bytes {
        (bytes + self.row_padding(format, values)).padded(self.alignment)
    }

    /// Bytes that a weight takes in a buffer.
    pub(super) fn weight(self, tensor: &Tensor) -> Bytes {
        self.allocated(tensor.size(), tensor.format, tensor.shape[0])
    }

    /// What must be readable past the last row: once a tensor.
    fn row_padding(self, format: Format, values: u64) -> Bytes {
        let over = values % self.row_values;
        if over == 0 || !format.is_quantised() {
            return Bytes::ZERO;
        }
        let missing = (self.row_values - over).div_ceil(format.block_elements());
        Bytes(missing.saturating_mul(format.block_bytes()))
    }
}
