public import TomboloModel
public import TomboloRules

/// Why a document's matrix can't be edited.
public enum MatrixEditError: Error, Hashable, Sendable, CustomStringConvertible {
    case noMatrix
    case unknownRole(String, known: [String])
    case unknownService(String, known: [String])
    case unknownOperation(String)
    case unknownPermission(String, known: [String])
    case unknownGroup(String, known: [String])
    /// Users who may change objects may read them. So the box for reading can't be emptied while another one is ticked,
    /// and no other can be ticked while it is empty.
    case needsRead(PermissionMatrix.Box)
    /// The service has no classes, and the rules never ask for this box: ticked, it would permit nothing.
    case countsNowhere(PermissionMatrix.Box, isEverywhere: Bool)
    /// The text of the box also stands for other boxes, or isn't written plainly.
    case notPlain(PermissionMatrix.Box, line: Int)
    /// The same for a user box.
    case userBoxNotPlain(PermissionMatrix.UserBox, line: Int)
    /// A role can't have this name.
    case badName(String, reason: Wording)
    /// The rules name the role in other places, so it's one of the app's own.
    case namedInRules(String, line: Int)
    /// The place where the role is, or should be, written isn't plain enough to edit.
    case rolesNotPlain(String, line: Int)
    /// The document can't be read.
    case mistakes(RuleError)

    public var wording: Wording {
        switch self {
        case .noMatrix: return Wording("The rules have no permission matrix.")
        case .unknownRole(let name, let known): return Self.unknown("role", name, known)
        case .unknownService(let name, let known): return Self.unknown("service", name, known)
        case .unknownPermission(let name, let known): return Self.unknown("permission", name, known)
        case .unknownGroup(let name, let known): return Self.unknown("group", name, known)
        case .unknownOperation(let name):
            return Self.unknown("operation", name, PermissionMatrix.operations.map(\.name))
        case .needsRead(let box) where box.operation == .read:
            return Wording(
                "'\(name: box.role)' may change \(name: box.service), and a role that may change objects may read "
                    + "them. Remove create, update and delete first.")
        case .needsRead(let box):
            return Wording(
                "'\(name: box.role)' may not read \(name: box.service), and a role that may change objects must be "
                    + "able to read them. Permit read first.")
        case .countsNowhere(let box, isEverywhere: true):
            return Wording(
                "The box to \(name: box.operation.name, context: "may …") \(name: box.service) would permit nothing: "
                    + "no rule asks for it in a role that applies everywhere.")
        case .countsNowhere(let box, isEverywhere: false):
            return Wording(
                "The box to \(name: box.operation.name, context: "may …") \(name: box.service) would permit nothing: "
                    + "no rule asks for it in a role that applies within an object.")
        case .notPlain(let box, let line):
            return Wording(
                "The box of '\(name: box.role)' and '\(name: box.service)' (line \(line)) isn't written as plain "
                    + "letters, or an alias or a merge key shares it with other boxes. Write it out in the document, "
                    + "and apply that.")
        case .userBoxNotPlain(let box, let line):
            return Wording(
                "The box of '\(name: box.permission)' and '\(name: box.group)' (line \(line)) isn't written as true or "
                    + "false, or an alias or a merge key shares it with other boxes. Write it out in the document, and "
                    + "apply that.")
        case .badName(let name, let reason):
            return Wording(
                "A role can't be called '\(name.shortened(toByteCount: String.nearestLengthLimit))': \(reason)")
        case .namedInRules(let name, let line):
            return Wording(
                "The rules name the role '\(name)' on line \(line), so it belongs to the app. Change its boxes, or "
                    + "change the document and apply it.")
        case .rolesNotPlain(let name, let line):
            return Wording(
                "The role '\(name)' can't be changed, because of how the rules list roles (line \(line)): write "
                    + "'grants', its 'roles' and the matrix without aliases and merge keys, one role after the other.")
        case .mistakes(let error): return Wording(untranslated: error.description)
        }
    }

    /// The message in English.
    public var description: String { wording.description }

    /// The message has no translations: pages notice earlier that the rules' names have changed.
    private static func unknown(_ kind: String, _ name: String, _ known: [String]) -> Wording {
        let hint = name.nearest(in: known).map { "; did you mean '\($0)'?" } ?? "."
        let shown = name.shortened(toByteCount: String.nearestLengthLimit)
        let plural = kind.prefix(1).uppercased() + kind.dropFirst() + "s"
        return Wording(
            untranslated: "There is no \(kind) '\(shown)'\(hint) \(plural): \(known.joined(separator: ", ")).")
    }
}
