/// The names that documents may contain. They can come from anybody, and end up in SQL, in the text of functions and in
/// messages.
package enum ModelName {
    /// Members of every Swift object whose names no `@Persisted` property can have, not even in backticks.
    package static let objectMembers: Set<String> = [
        "description", "hash", "hashValue", "isInvalidated", "objectSchema", "realm",
    ]

    /// The problem with the name of a class or property, or nil. Letters, digits and `_` are allowed; in properties
    /// also spaces, which Swift allows in backticks.
    static func problem(of name: String, isProperty: Bool) -> Wording? {
        if let problem = lengthProblem(of: name) { return problem }
        let first = name.unicodeScalars.first
        guard first?.properties.numericType == nil, first != " ", name.unicodeScalars.last != " " else {
            return Wording("'\(shown(name))' isn't a valid Swift name.")
        }
        let isFine = name.unicodeScalars.allSatisfy { isWordScalar($0) || isProperty && $0 == " " }
        return isFine
            ? nil
            : Wording("'\(shown(name))' has characters that Swift names can't contain: use letters, digits and _.")
    }

    /// The problem with the name of a table or column, or nil.
    package static func sqlProblem(of name: String) -> Wording? {
        if let problem = lengthProblem(of: name) { return problem }
        let isFine = name.unicodeScalars.allSatisfy { isWordScalar($0) || " -#+&/.:@%".unicodeScalars.contains($0) }
        return isFine
            ? nil
            : Wording("The SQL name '\(shown(name))' has characters that aren't supported: use letters, digits and _.")
    }

    static func appProblem(of name: String) -> Wording? {
        if let problem = lengthProblem(of: name) { return problem }
        let isFine = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isFine, name.utf8.first.map({ $0 >= UInt8(ascii: "a") }) == true, name.first != "_" else {
            return
                Wording(
                    "The app's name '\(shown(name))' must consist of lower-case letters, digits, - and _, and begin with "
                        + "a letter.")
        }
        return nil
    }

    static func shown(_ text: String) -> String {
        text.shortened(toByteCount: ModelDocument.maximumNameByteCount)
    }

    private static func lengthProblem(of name: String) -> Wording? {
        if name.isEmpty { return Wording("The name is empty.") }
        guard name.utf8.count > ModelDocument.maximumNameByteCount else { return nil }
        return Wording(
            "The name '\(shown(name))' has \(name.utf8.count) bytes; the limit is "
                + "\(ModelDocument.maximumNameByteCount).")
    }

    private static func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar == "_" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            false
        default: true
        }
    }
}
