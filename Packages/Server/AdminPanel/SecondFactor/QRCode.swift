/// A QR code (ISO/IEC 18004) for a text in byte mode, with error correction level M: 15 % of it may be unreadable.
/// Versions 1 to 10 hold up to 213 bytes, which is enough for the address that sets up an authenticator app.
struct QRCode: Sendable {
    /// The number of modules in a row, without the quiet zone.
    var size: Int { version.size }
    /// The modules, row by row; true for dark ones.
    private(set) var modules: [Bool]
    /// Function modules, which hold no data.
    private var isFixed: [Bool]
    private var version: QRVersion

    /// - Parameter mask: from 0 to 7; nil for the one that reads best.
    /// - Returns: nil for a text that is too long.
    init?(_ text: String, mask: Int? = nil) {
        let bytes = Array(text.utf8)
        guard let version = QRVersion.all.first(where: { $0.capacity >= bytes.count }) else { return nil }
        self.version = version
        modules = Array(repeating: false, count: version.size * version.size)
        isFixed = modules
        drawFixed()
        drawData(version.codewords(bytes))
        guard let mask else {
            let blank = self
            var best: (penalty: Int, code: QRCode)?
            for mask in 0..<8 {
                var code = blank
                code.apply(mask)
                let penalty = QRPenalty.of(code)
                if best.map({ penalty < $0.penalty }) ?? true { best = (penalty, code) }
            }
            guard let best else { return nil }
            self = best.code
            return
        }
        apply(mask)
    }

    subscript(row: Int, column: Int) -> Bool { modules[row * size + column] }

    // MARK: Function modules

    private mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row * size + column] = isDark
        isFixed[row * size + column] = true
    }

    private mutating func drawFixed() {
        for index in 0..<size {
            fix(6, index, index % 2 == 0)
            fix(index, 6, index % 2 == 0)
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawFinder(row, column) }
        let places = version.alignments
        let last = places.count - 1
        for (i, row) in places.enumerated() {
            for (j, column) in places.enumerated() {
                // These corners have finder patterns.
                if i == 0 && (j == 0 || j == last) || i == last && j == 0 { continue }
                for dy in -2...2 {
                    for dx in -2...2 { fix(row + dy, column + dx, max(abs(dy), abs(dx)) != 1) }
                }
            }
        }
        drawFormat(mask: 0)
        drawVersion()
    }

    private mutating func drawFinder(_ row: Int, _ column: Int) {
        for dy in -4...4 {
            for dx in -4...4 {
                let (y, x) = (row + dy, column + dx)
                guard (0..<size).contains(y), (0..<size).contains(x) else { continue }
                let distance = max(abs(dy), abs(dx))
                fix(y, x, distance != 2 && distance != 4)
            }
        }
    }

    /// The level and the mask, twice, with their own BCH code (section 7.9).
    private mutating func drawFormat(mask: Int) {
        // Level M is 00.
        let data = mask
        var rest = data
        for _ in 0..<10 { rest = rest << 1 ^ (rest >> 9) * 0x537 }
        let bits = (data << 10 | rest) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 != 0 }
        for index in 0...5 { fix(index, 8, bit(index)) }
        fix(7, 8, bit(6))
        fix(8, 8, bit(7))
        fix(8, 7, bit(8))
        for index in 9..<15 { fix(8, 14 - index, bit(index)) }
        for index in 0..<8 { fix(8, size - 1 - index, bit(index)) }
        for index in 8..<15 { fix(size - 15 + index, 8, bit(index)) }
        fix(size - 8, 8, true)
    }

    /// From version 7, the code contains its version twice (section 7.10).
    private mutating func drawVersion() {
        guard version.number >= 7 else { return }
        var rest = version.number
        for _ in 0..<12 { rest = rest << 1 ^ (rest >> 11) * 0x1f25 }
        let bits = version.number << 12 | rest
        for index in 0..<18 {
            let isDark = bits >> index & 1 != 0
            let (a, b) = (size - 11 + index % 3, index / 3)
            fix(b, a, isDark)
            fix(a, b, isDark)
        }
    }

    // MARK: Data

    /// In pairs of columns from the right, alternately up and down (section 7.7.3).
    private mutating func drawData(_ codewords: [UInt8]) {
        var index = 0
        var right = size - 1
        while right >= 1 {
            // Skip the column of the timing pattern.
            if right == 6 { right = 5 }
            let isUpward = (right + 1) & 2 == 0
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !isFixed[row * size + column] && index < codewords.count * 8 {
                    modules[row * size + column] = codewords[index >> 3] >> (7 - UInt8(index & 7)) & 1 != 0
                    index += 1
                }
            }
            right -= 2
        }
    }

    private mutating func apply(_ mask: Int) {
        for row in 0..<size {
            for column in 0..<size where !isFixed[row * size + column] && Self.inverts(mask, row, column) {
                modules[row * size + column].toggle()
            }
        }
        drawFormat(mask: mask)
    }

    /// Whether the mask inverts a module (section 7.8.2, table 10).
    private static func inverts(_ mask: Int, _ i: Int, _ j: Int) -> Bool {
        switch mask {
        case 0: (i + j) % 2 == 0
        case 1: i % 2 == 0
        case 2: j % 3 == 0
        case 3: (i + j) % 3 == 0
        case 4: (i / 2 + j / 3) % 2 == 0
        case 5: i * j % 2 + i * j % 3 == 0
        case 6: (i * j % 2 + i * j % 3) % 2 == 0
        default: ((i + j) % 2 + i * j % 3) % 2 == 0
        }
    }

    // MARK: SVG

    /// The number of light modules around the code (section 9.1).
    static let quietZone = 4

    /// The side length of the picture, in modules.
    var side: Int { size + 2 * Self.quietZone }

    /// The dark modules as SVG path data, with a rectangle for each run.
    var path: String {
        var path = ""
        for row in 0..<size {
            var column = 0
            while column < size {
                guard self[row, column] else {
                    column += 1
                    continue
                }
                var end = column
                while end < size, self[row, end] { end += 1 }
                path += "M\(column + Self.quietZone) \(row + Self.quietZone)h\(end - column)v1h-\(end - column)z"
                column = end
            }
        }
        return path
    }
}
