/// How badly a QR code reads (ISO/IEC 18004, section 7.8.3). Of the eight masks, the one with the lowest penalty is
/// used.
enum QRPenalty {
    static func of(_ code: QRCode) -> Int {
        var penalty = 0
        for index in 0..<code.size {
            penalty += ofLine((0..<code.size).map { code[index, $0] })
            penalty += ofLine((0..<code.size).map { code[$0, index] })
        }
        return penalty + ofSquares(code) + ofBalance(code)
    }

    /// Penalizes runs of five or more, and patterns that look like a finder next to four light modules.
    private static func ofLine(_ line: [Bool]) -> Int {
        var penalty = 0
        var length = 0
        for (index, module) in line.enumerated() {
            length = index > 0 && line[index - 1] == module ? length + 1 : 1
            if length == 5 { penalty += 3 } else if length > 5 { penalty += 1 }
        }
        let finder = [true, false, true, true, true, false, true]
        guard line.count >= finder.count + 4 else { return penalty }
        for start in 0...(line.count - finder.count) where Array(line[start..<(start + finder.count)]) == finder {
            let (before, after) = (line[max(0, start - 4)..<start], line[(start + 7)..<min(line.count, start + 11)])
            // Everything beyond the edge is light.
            if !before.contains(true) || !after.contains(true) { penalty += 40 }
        }
        return penalty
    }

    private static func ofSquares(_ code: QRCode) -> Int {
        var penalty = 0
        for row in 0..<(code.size - 1) {
            for column in 0..<(code.size - 1) {
                let module = code[row, column]
                if module == code[row, column + 1], module == code[row + 1, column], module == code[row + 1, column + 1]
                {
                    penalty += 3
                }
            }
        }
        return penalty
    }

    /// Ten for each full five percent by which the share of dark modules differs from one half.
    private static func ofBalance(_ code: QRCode) -> Int {
        let count = code.modules.count { $0 }
        let total = code.size * code.size
        return abs(count * 20 - total * 10) / total * 10
    }
}
