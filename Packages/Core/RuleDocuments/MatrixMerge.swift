internal import TomboloModel
internal import TomboloRules

/// A newer rule document of an app, with what administrators changed in the matrix of the former one: a merge of three
/// documents, by values. Everything but the matrix is the newer document's.
///
/// | the former document, as it was applied | in use | the newer document | result |
/// |---|---|---|---|
/// | ticked | emptied | ticked or empty | empty |
/// | empty | ticked | empty or ticked | ticked, if the role may still read |
/// | – | the role was added | – | the role with its boxes, as far as there are such services |
/// | – | the role was added | has it too | ticked only where both tick it |
/// | the role | was removed | has it | removed, if the rules name it nowhere else |
public struct MatrixMerge: Hashable, Sendable {
    /// A change that the newer document doesn't have, with the reason as a sentence.
    public struct Loss: Hashable, Sendable, CustomStringConvertible {
        public let change: MatrixChange
        public let reason: String

        public var description: String { "\(change). \(reason)" }
    }

    /// The document to store.
    public let text: String
    /// What was changed in the newer document.
    public let kept: [MatrixChange]
    /// What can't be kept. Nobody gets more by that than the newer document gives.
    public let lost: [Loss]
    /// What was taken away, and the newer document gives again in a way that can't be edited: boxes that are there and
    /// stay ticked. Storing the text would silently widen what people may do.
    public let returning: [Loss]

    /// - Parameters:
    ///   - base: the former document, as it was applied.
    ///   - current: what administrators made of it.
    ///   - new: the document to apply. One with mistakes is left alone: they are found when it's compiled.
    ///   - file: its name, for messages.
    /// - Throws: ``MatrixEditError/mistakes(_:)`` if `base` or `current` can't be read.
    public init(base: String, current: String, new: String, file: String) throws(MatrixEditError) {
        // An unchanged file changes nothing, and a database without changes takes the file.
        if base.hasBytes(of: new) || base.hasBytes(of: current) || current.hasBytes(of: new) {
            self.init(text: base.hasBytes(of: new) ? current : new)
            return
        }
        guard let old = try Self.matrix(of: base, file), let used = try Self.matrix(of: current, file) else {
            self.init(text: new)
            return
        }
        let changes = used.changes(since: old)
        let text: RuleText
        do throws(MatrixEditError) {
            text = try RuleText(new, file: file)
        } catch .noMatrix {
            let reason = MatrixEditError.noMatrix.description
            self.init(text: new, lost: changes.map { Loss(change: $0, reason: reason) })
            return
        } catch {
            self.init(text: new)
            return
        }
        var wishes = MatrixWishes(changes, used, text.matrix)
        let result = wishes.carryOut(in: text)
        let returning = wishes.lost.filter { Self.stays($0.change, in: result.matrix) }
        self.init(
            text: result.text, kept: wishes.kept, lost: wishes.lost.filter { !returning.contains($0) },
            returning: returning)
    }

    private init(text: String, kept: [MatrixChange] = [], lost: [Loss] = [], returning: [Loss] = []) {
        self.text = text
        self.kept = kept
        self.lost = lost
        self.returning = returning
    }

    /// - Returns: nil for a document without a matrix.
    private static func matrix(of text: String, _ file: String) throws(MatrixEditError) -> PermissionMatrix? {
        do throws(MatrixEditError) {
            return try RuleText(text, file: file).matrix
        } catch .noMatrix {
            return nil
        }
    }

    /// Whether something was to be taken away that the matrix has.
    private static func stays(_ change: MatrixChange, in matrix: PermissionMatrix) -> Bool {
        switch change {
        case .box(let box, isPermitted: false): matrix.permits(box)
        case .userBox(let box, isPermitted: false): matrix.permits(box)
        // Nobody has a role that was removed.
        case .box, .userBox, .added, .removed: false
        }
    }
}
