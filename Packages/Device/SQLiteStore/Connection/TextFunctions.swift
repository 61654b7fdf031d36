internal import GRDBSQLite
internal import TomboloModel

/// SQL functions for text predicates. `options` are the bits of ``TextFolding``: 1 folds case (`[c]`), 2 folds
/// diacritics (`[d]`), 3 folds both, 0 neither.
///
/// - `text_fold(text, options)`: the text in the form used for comparisons.
/// - `text_like(text, pattern, options)`: 1 or 0. The pattern has the syntax of ``TextPattern``; neither argument may
///   be folded already.
///
/// Both are NULL if an argument is NULL.
enum TextFunctions {
    static func register(on connection: OpaquePointer, path: String) throws {
        try SQLFunctions.scalar("text_fold", arguments: 2, on: connection, path: path) { context, _, arguments in
            guard let text = SQLFunctions.text(arguments, 0) else { return }
            let folding = TextFolding(rawValue: SQLFunctions.integer(arguments, 1))
            folding.fold(utf8: text).withUnsafeBufferPointer { SQLFunctions.answer(context, text: $0) }
        }
        try SQLFunctions.scalar("text_like", arguments: 3, on: connection, path: path) { context, _, arguments in
            guard let text = SQLFunctions.text(arguments, 0), let pattern = SQLFunctions.text(arguments, 1) else {
                return
            }
            let folding = TextFolding(rawValue: SQLFunctions.integer(arguments, 2))
            let prepared = TextFunctions.prepared(context, pattern, folding)
            sqlite3_result_int(context, prepared.pattern.matches(utf8: text) ? 1 : 0)
        }
    }

    /// A compiled pattern. SQLite keeps it between rows if the argument is a constant.
    private final class PreparedPattern {
        let pattern: TextPattern
        let folding: TextFolding

        init(_ pattern: TextPattern, _ folding: TextFolding) {
            self.pattern = pattern
            self.folding = folding
        }
    }

    private static let patternArgument: Int32 = 1

    private static func prepared(
        _ context: SQLFunctions.Context, _ pattern: UnsafeBufferPointer<UInt8>, _ folding: TextFolding
    ) -> PreparedPattern {
        if let kept = sqlite3_get_auxdata(context, patternArgument) {
            let prepared = Unmanaged<PreparedPattern>.fromOpaque(kept).takeUnretainedValue()
            if prepared.folding == folding { return prepared }
        }
        let prepared = PreparedPattern(
            TextPattern(String(decoding: pattern, as: UTF8.self), folding: folding), folding)
        sqlite3_set_auxdata(context, patternArgument, Unmanaged.passRetained(prepared).toOpaque()) { kept in
            if let kept { Unmanaged<PreparedPattern>.fromOpaque(kept).release() }
        }
        return prepared
    }
}
