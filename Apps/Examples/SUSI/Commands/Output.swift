import Foundation

/// The program's output to people: results on standard output, notes and errors on standard error.
enum Output {
    static func note(_ sentence: String) {
        FileHandle.standardError.write(Data(("note: " + LineText.line(sentence) + "\n").utf8))
    }

    /// - Parameter name: the document's name.
    static func notes(_ notes: Notes, about name: String) {
        for sentence in notes.sentences { note("\(name): \(sentence)") }
        if notes.leftOutCount > 0 { note("\(name): and \(notes.leftOutCount) more") }
    }

    static func error(_ error: any Error) {
        FileHandle.standardError.write(Data(("error: " + LineText.line(String(describing: error)) + "\n").utf8))
    }
}
