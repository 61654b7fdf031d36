internal import TomboloModel

/// One uninterrupted existence of an object within a changeset. It begins with the changeset or the object's creation,
/// and ends with its erase or the end of the changeset. An object that's erased and created again has several lives,
/// and each needs permission.
struct ObjectLife {
    /// The row before the changeset, or nil if the changeset created the object.
    let old: Row?
    /// The row in the trash that the creation took over.
    let replaced: Row?
    /// Whether that row was in the trash before the changeset, so that taking it out is a restore.
    let isRestored: Bool
    /// The position of the instruction that created the object, or nil if it already existed.
    let creation: Int?
    /// The row when the object was erased, or at the end of the changeset.
    var last: Row
    private(set) var isErased = false

    /// Why a life isn't allowed.
    enum Obstacle {
        case denied(WriteDenial)
        /// The create at this position has the key of an object in the trash that the user may not restore. The user is told
        /// that the key is taken, as for an object that they can't read, so that no answer reveals what is in the trash.
        case takenKey(position: Int)
    }

    init(old: Row?, replaced: Row?, isRestored: Bool = false, creation: Int? = nil, last: Row) {
        self.old = old
        self.replaced = replaced
        self.isRestored = isRestored
        self.creation = creation
        self.last = last
    }

    mutating func end(_ row: Row) {
        last = row
        isErased = true
    }

    /// Checks all permissions that this life needs. Not for list elements.
    /// - Parameter written: the columns of existing rows that the changeset writes.
    /// - Returns: the first obstacle, or nil if everything is permitted.
    func obstacle(
        _ classIndex: Int, isTrashable: Bool, written: Set<Int>, _ permit: (WriteRequest) -> WriteDenial?
    ) -> Obstacle? {
        func ask(_ operation: WriteRequest.Operation, _ old: Row?, _ new: Row?) -> Obstacle? {
            permit(
                WriteRequest(
                    operation: operation, classIndex: classIndex, old: old, new: new,
                    written: operation == .update ? written : [])
            ).map { .denied($0) }
        }
        guard let old else {
            if let denial = ask(.create, nil, last) { return denial }
            guard let replaced else { return nil }
            if isRestored, let denial = ask(.restore, replaced, last) {
                return creation.map { .takenKey(position: $0) } ?? denial
            }
            // The create overwrites every column of the row in the trash.
            return permit(
                WriteRequest(
                    operation: .update, classIndex: classIndex, old: replaced, new: last,
                    written: Set(last.values.indices))
            ).map { .denied($0) }
        }
        guard isErased else { return ask(.update, old, last) }
        if let denial = ask(.delete, old, nil) { return denial }
        // An object that is edited and then erased goes into the trash with the edits.
        let isEdited = last != old || !written.isEmpty
        return isTrashable && isEdited ? ask(.update, old, last) : nil
    }
}
