import OpenEventImport

/// What commands print about imports.
enum Report {
    /// The most notes to print.
    static let shownNoteCount = 20

    static func print(notes: [OpenEventNote]) {
        guard !notes.isEmpty else { return }
        Swift.print("Imported, but look at these:")
        for note in notes.prefix(shownNoteCount) { Swift.print("  \(note)") }
        if notes.count > shownNoteCount { Swift.print("  … and \(notes.count - shownNoteCount) more.") }
    }

    /// Prints every problem, because nothing else says what is missing.
    static func print(setAside problems: [OpenEventProblem]) {
        guard !problems.isEmpty else { return }
        Swift.print("Set aside and not imported:")
        for problem in problems { Swift.print("  \(problem)") }
    }

    static func progress(_ className: String, _ written: Int, _ total: Int) {
        if total > 0 { Swift.print("  \(className): \(written) of \(total)") }
    }

    static func print(_ summary: OpenEventSummary) {
        Swift.print("\(summary.eventName), id \(summary.eventID)")
        let header = ["class", "file", "records", "set aside", "new", "changed", "unchanged"]
        let lines = summary.lines.map { line in
            [
                line.className, line.file, "\(line.records)", "\(line.setAside)", "\(line.inserted)",
                "\(line.updated)", "\(line.unchanged)",
            ]
        }
        for cells in [header] + lines {
            let text = zip(cells, [17, 20, 8, 10, 8, 8, 9]).map { cell, width in
                cell + String(repeating: " ", count: max(1, width - cell.count))
            }
            Swift.print("  " + text.joined().trimmingSuffix(while: \.isWhitespace))
        }
        if !summary.setAside.isEmpty {
            let (records, links) = (summary.setAside.recordCount, summary.setAside.linkCount)
            Swift.print(
                "Set aside: \(records) \(records == 1 ? "record" : "records"), "
                    + "\(links) \(links == 1 ? "link" : "links"). Everything else was imported.")
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> Substring {
        var result = self[...]
        while let last = result.last, isDropped(last) { result.removeLast() }
        return result
    }
}
