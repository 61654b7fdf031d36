/// A size of QR codes, with its division into blocks at level M (ISO/IEC 18004, table 9).
struct QRVersion: Sendable {
    let number: Int
    /// The number of error correction codewords per block.
    private let correctionCount: Int
    /// The number of data codewords in each block.
    private let blocks: [Int]
    /// The row and column positions of alignment patterns (annex E).
    let alignments: [Int]

    private init(_ number: Int, _ correctionCount: Int, _ blocks: [Int], _ alignments: [Int]) {
        self.number = number
        self.correctionCount = correctionCount
        self.blocks = blocks
        self.alignments = alignments
    }

    static let all = [
        QRVersion(1, 10, [16], []), QRVersion(2, 16, [28], [6, 18]), QRVersion(3, 26, [44], [6, 22]),
        QRVersion(4, 18, [32, 32], [6, 26]), QRVersion(5, 24, [43, 43], [6, 30]),
        QRVersion(6, 16, [27, 27, 27, 27], [6, 34]), QRVersion(7, 18, [31, 31, 31, 31], [6, 22, 38]),
        QRVersion(8, 22, [38, 38, 39, 39], [6, 24, 42]), QRVersion(9, 22, [36, 36, 36, 37, 37], [6, 26, 46]),
        QRVersion(10, 26, [43, 43, 43, 43, 44], [6, 28, 50]),
    ]

    var size: Int { 17 + 4 * number }

    private var dataCount: Int { blocks.reduce(0, +) }
    /// The size of the field with the number of bytes.
    private var lengthBitCount: Int { number < 10 ? 8 : 16 }

    /// How many bytes of text fit in.
    var capacity: Int { (dataCount * 8 - 4 - lengthBitCount) / 8 }

    /// The text in byte mode, padded, with error correction and interleaved blocks (sections 7.4 to 7.6).
    /// - Parameter bytes: at most ``capacity``.
    func codewords(_ bytes: [UInt8]) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for index in stride(from: count - 1, through: 0, by: -1) { bits.append(value >> index & 1 != 0) }
        }
        append(0b0100, 4)
        append(bytes.count, lengthBitCount)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, dataCount * 8 - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var data = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        let padding: [UInt8] = [0xec, 0x11]
        for index in 0..<max(0, dataCount - data.count) { data.append(padding[index % 2]) }
        return interleaved(data)
    }

    private func interleaved(_ data: [UInt8]) -> [UInt8] {
        let code = ReedSolomon(count: correctionCount)
        var start = 0
        let parts = blocks.map { count -> (data: [UInt8], correction: [UInt8]) in
            defer { start += count }
            let block = Array(data[start..<(start + count)])
            return (block, code.correction(of: block))
        }
        var result: [UInt8] = []
        for index in 0..<(blocks.max() ?? 0) {
            for part in parts where index < part.data.count { result.append(part.data[index]) }
        }
        for index in 0..<correctionCount {
            for part in parts { result.append(part.correction[index]) }
        }
        return result
    }
}
