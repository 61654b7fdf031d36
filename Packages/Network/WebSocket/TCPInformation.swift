#if os(Linux)
    /// The first 128 bytes of Linux's `struct tcp_info` (include/uapi/linux/tcp.h, Linux 4.1 and later). The C library's
    /// header ends before `tcpi_bytes_acked`, which is at offset 120.
    struct TCPInformation: Sendable {
        private let before:
            (
                UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64,
                UInt64, UInt64
            )
        /// The number of bytes the other side has acknowledged.
        let confirmedByteCount: UInt64
    }
#endif
