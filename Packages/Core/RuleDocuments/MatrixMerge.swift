internal import TomboloModel
internal import TomboloRules

/// Carries over what administrators changed in the matrix of an app's former rule document to a newer one. This is a
/// three-way merge by values. Everything but the matrix comes from the newer document.
///
/// | the former document, as it was applied | in use | the newer document | result |
/// |---|---|---|---|
/// | ticked | emptied | ticked or empty | empty |
/// | empty | ticked | empty or ticked | ticked, if the role may still read |
/// | – | the role was added | – | the role with its boxes, as far as their services still exist |
/// | – | the role was added | has it too | ticked only where both tick it |
/// | the role | was removed | has it | removed, if the rules name it nowhere else |
public struct MatrixMerge: Hashable, Sendable {
    /// A change that can't be carried over, with the reason as a sentence.
    public struct Loss: Hashable, Sendable, CustomStringConvertible {
        public let change: MatrixChange
        public let reason: String

        public var description: String { "\(change). \(reason)" }
    }

    /// The document to store.
    public let text: String
    /// The changes that were carried over.
    public let kept: [MatrixChange]
    /// The changes that can't be carried over. Without them, nobody may do more than the newer document permits.
    public let lost: [Loss]
    /// Removed permissions that the newer document grants again in a way that can't be edited: the boxes exist and stay
    /// ticked. Storing the text would silently widen what people may do.
    public let returning: [Loss]

    /// - Parameters:
    ///   - base: the former document, as it was applied.
    ///   - current: the former document with the administrators' changes.
    ///   - new: the document to apply. A document with mistakes is left unchanged: compiling it will report them.
    ///   - file: the document's name, for messages.
    /// - Throws: ``MatrixEditError/mistakes(_:)`` if `base` or `current` can't be read.
    public init(base: String, current: String, new: String, file: String) throws(MatrixEditError) {
        // If the file is unchanged, the database's document stays; if administrators changed nothing, the file replaces
        // the database's document.
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

    /// Whether a change was to remove something that the matrix still has.
    private static func stays(_ change: MatrixChange, in matrix: PermissionMatrix) -> Bool {
        switch change {
        case .box(let box, isPermitted: false): matrix.permits(box)
        case .userBox(let box, isPermitted: false): matrix.permits(box)
        // Nobody has a role that was removed, so its boxes widen nothing.
        case .box, .userBox, .added, .removed: false
        }
    }
}
