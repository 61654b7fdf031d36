internal import TomboloModel

/// The differences between the columns of a class in the file and those of the app's class.
struct ClassChange {
    /// The positions of a column that both sides have.
    struct Pair {
        let old: Int
        let new: Int
    }

    let old: StoredClass
    let new: StoredClass
    /// Positions in `new`.
    private(set) var added: [Int] = []
    /// Positions in `old`.
    private(set) var removed: [Int] = []
    /// Columns that keep their values.
    private(set) var kept: [Pair] = []
    /// Columns that keep their values but become encrypted, or no longer are.
    private(set) var resealed: [Pair] = []
    /// Columns whose type changes. They lose their values.
    private(set) var retyped: [Pair] = []
    /// The names of embedded objects whose class changes. They lose their values too.
    private(set) var replaced: [String] = []
    /// Positions in `new` and `old`.
    private(set) var indexed: [Int] = []
    private(set) var unindexed: [Int] = []
    private(set) var isOptionalityChanged = false
    private(set) var isKeyChanged = false

    init(from old: StoredClass, to new: StoredClass) {
        self.old = old
        self.new = new
        replaced = new.properties.filter { property in
            guard case .embedded = property.type, let before = old.index(of: property.name) else { return false }
            return old.properties[before].type != property.type
        }.map(\.name)
        for (position, property) in new.properties.enumerated() {
            guard let before = old.index(of: property.name) else {
                added.append(position)
                if property.isIndexed { indexed.append(position) }
                continue
            }
            let pair = Pair(old: before, new: position)
            let previous = old.properties[before]
            if !previous.type.isStored(as: property.type)
                || replaced.contains(where: { property.name.hasPrefix("\($0).") })
            {
                retyped.append(pair)
            } else if previous.isEncrypted != property.isEncrypted {
                resealed.append(pair)
            } else {
                kept.append(pair)
            }
            if previous.isOptional != property.isOptional { isOptionalityChanged = true }
            if property.isIndexed, !previous.isIndexed { indexed.append(position) }
            if previous.isIndexed, !property.isIndexed { unindexed.append(before) }
        }
        for (position, property) in old.properties.enumerated() where new.index(of: property.name) == nil {
            removed.append(position)
            if property.isIndexed { unindexed.append(position) }
        }
        let (before, after) = (old.keyIndex.map { old.properties[$0] }, new.keyIndex.map { new.properties[$0] })
        isKeyChanged =
            before?.name != after?.name
            || before.map { before in !(after.map { before.type.isStored(as: $0.type) } ?? false) } ?? false
    }

    /// Whether the table must be rebuilt.
    var needsRebuild: Bool { isKeyChanged || isOptionalityChanged || !retyped.isEmpty || !resealed.isEmpty }

    /// Whether the type of a list's elements changes, so that no elements are kept.
    var replacesElements: Bool {
        guard new.isElement else { return false }
        return old.embeddedClass != new.embeddedClass
            || retyped.contains { $0.new >= ElementColumn.content && new.embeddedClass == nil }
            || old.properties[0].name != new.properties[0].name
    }
}
