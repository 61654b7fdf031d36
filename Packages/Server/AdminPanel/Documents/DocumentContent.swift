import TomboloLocalization
import TomboloServerModel

/// The values for the template `document`: the text of a version, or its changes.
struct DocumentContent: Sendable {
    struct Line: Sendable {
        let kind: String
        let old: String
        let new: String
        let sign: String
        let text: String

        init(_ line: LineDiff.Line) {
            kind = line.kind.rawValue
            old = line.oldNumber.map(String.init) ?? ""
            new = line.newNumber.map(String.init) ?? ""
            sign =
                switch line.kind {
                case .same: ""
                case .removed: "−"
                case .added: "+"
                case .gap: "…"
                }
            text = line.text
        }
    }

    let version: Int64
    let heading: String
    let lead: String
    let before: Int64?
    let isDiff: Bool
    let summary: String
    let lines: [Line]
    let hasLines: Bool
    let content: String

    init(_ document: StoredDocument, before: Int64?) {
        version = document.version
        let app = document.app
        heading =
            switch document.kind {
            case .models: localized("The models of \(app)")
            case .rules: localized("The rules of \(app)")
            }
        lead = localized("Version \(document.version)")
        self.before = before
        isDiff = false
        summary = ""
        lines = []
        hasLines = false
        content = document.content
    }

    init(_ document: StoredDocument, against older: StoredDocument) {
        version = document.version
        let app = document.app
        heading =
            switch document.kind {
            case .models: localized("What changed in the models of \(app)")
            case .rules: localized("What changed in the rules of \(app)")
            }
        lead = localized("Version \(document.version) compared with version \(older.version)")
        before = nil
        isDiff = true
        content = ""
        guard let diff = LineDiff(from: older.content, to: document.content) else {
            summary = localized("The texts are too long or too different to compare line by line.")
            lines = []
            hasLines = false
            return
        }
        summary =
            diff.lines.isEmpty
            ? localized("Nothing changed: the texts are the same.")
            : localized(
                diff.added, one: "\(diff.added) line was added, \(diff.removed) removed.",
                other: "\(diff.added) lines were added, \(diff.removed) removed.")
        lines = diff.lines.map(Line.init)
        hasLines = !lines.isEmpty
    }
}
