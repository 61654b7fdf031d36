/// Applies a unified diff strictly: every context and removed line must be where the diff says.
enum Patch {
    struct Failure: Error {
        let line: String
    }

    static func apply(_ diff: String, to original: String) throws -> String {
        var old = lines(original)[...]
        var position = 0
        var result = ""
        var body = lines(diff).dropFirst(2)[...]
        while let line = body.popFirst() {
            if line.hasPrefix("@@") {
                let start = Int(line.dropFirst(4).prefix { $0 != "," }).map { max(0, $0 - 1) } ?? 0
                while position < start, let kept = old.popFirst() {
                    result += kept
                    position += 1
                }
                continue
            }
            if line.hasPrefix("\\") { continue }
            var text = String(line.dropFirst())
            if body.first?.hasPrefix("\\") == true { text.removeLast() }
            if !line.hasPrefix("+") {
                guard old.popFirst() == text else { throw Failure(line: line) }
                position += 1
            }
            if !line.hasPrefix("-") { result += text }
        }
        return result + old.joined()
    }

    /// The lines with their line endings. A line may end in `\r\n`.
    private static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for scalar in text.unicodeScalars {
            line.unicodeScalars.append(scalar)
            if scalar == "\n" {
                lines.append(line)
                line = ""
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }
}
