/// Writes changes in the format of `diff -u`, for `patch -p1` and `git apply`.
enum UnifiedDiff {
    static let context = 3

    static func text(_ file: RewrittenFile) -> String {
        guard file.isChanged else { return "" }
        let lines = EditedText.lines(Array(file.original.utf8)[...])
        // `git apply` refuses a path such as `./Models/Dog.swift`.
        let path = file.path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        var text = "--- a/\(path)\n+++ b/\(path)\n"
        var shift = 0
        var first = 0
        while first < file.changes.count {
            var last = first
            while last + 1 < file.changes.count,
                file.changes[last + 1].start - (file.changes[last].start + file.changes[last].old.count) <= context * 2
            {
                last += 1
            }
            let changes = file.changes[first...last]
            let start = max(0, file.changes[first].start - context)
            let end = min(lines.count, file.changes[last].start + file.changes[last].old.count + context)
            let growth = changes.reduce(0) { $0 + $1.new.count - $1.old.count }
            text += "@@ -\(range(start, end - start)) +\(range(start + shift, end - start + growth)) @@\n"
            var position = start
            for change in changes {
                for line in lines[position..<change.start] { text += marked(" ", line) }
                for line in change.old { text += marked("-", line) }
                for line in change.new { text += marked("+", line) }
                position = change.start + change.old.count
            }
            for line in lines[position..<end] { text += marked(" ", line) }
            shift += growth
            first = last + 1
        }
        return text
    }

    private static func range(_ start: Int, _ count: Int) -> String {
        "\(count == 0 ? start : start + 1),\(count)"
    }

    private static func marked(_ mark: String, _ line: String) -> String {
        line.utf8.last == UInt8(ascii: "\n") ? mark + line : mark + line + "\n\\ No newline at end of file\n"
    }
}
