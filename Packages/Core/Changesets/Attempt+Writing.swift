internal import TomboloModel

/// How each instruction is carried out.
extension Arbiter.Attempt {
    mutating func perform(_ instruction: Instruction, at position: Int) {
        self.position = position
        let reference = instruction.reference
        let item = arbiter.classes[reference.classIndex]
        let concurrent = concurrentWrites(to: reference)
        if concurrent.isErased {
            lost += 1
            return
        }
        guard !unseen.contains(reference) else { return performUnseen(instruction, item) }
        touch(reference)
        switch instruction {
        case .create(_, let fields):
            if arbiter.rows[reference] != nil {
                merge(fields, into: reference, item, concurrent)
            } else {
                insert(fields, as: reference, item)
            }
        case .set(_, let fields):
            guard arbiter.rows[reference] != nil else {
                lost += fields.count
                return
            }
            merge(fields, into: reference, item, concurrent)
        case .add(_, let column, let amount):
            add(amount, to: reference, column, item, concurrent)
        case .erase:
            guard let row = arbiter.rows[reference] else { return }
            remove(reference)
            if item.isTrashable { arbiter.trash[reference] = row }
            unlink(reference)
            write(.erase(reference))
        }
    }

    /// Performs an instruction on an object that the user can't read, as if the object didn't exist.
    mutating func performUnseen(_ instruction: Instruction, _ item: ArbitratedClass) {
        let reference = instruction.reference
        switch instruction {
        case .create(_, let fields):
            let row = arbiter.rows.take(reference)
            touch(reference)
            insert(fields, as: reference, item)
            guard arbiter.rows[reference] != nil else {
                arbiter.rows[reference] = row
                return
            }
            // From here on, instructions mean the new object. It's never written, because the key is taken.
            unseen.remove(reference)
            object(to: reference, Self.takenKey(reference, item))
        case .set(_, let fields): lost += fields.count
        case .add: lost += 1
        case .erase: break
        }
    }

    mutating func insert(_ fields: [FieldWrite], as reference: ObjectReference, _ item: ArbitratedClass) {
        var row = item.blank
        var isDefault = Array(repeating: true, count: row.values.count)
        if let key = item.keyIndex {
            row[key] = reference.key
            isDefault[key] = false
        }
        for field in fields where field.column != item.keyIndex {
            row[field.column] = field.value
            isDefault[field.column] = field.isDefault
        }
        if isDefault != lastDefaults.isDefault {
            lastDefaults = (isDefault, Set(isDefault.indices.lazy.filter { isDefault[$0] }))
        }
        let defaults = lastDefaults.columns
        for index in item.linkColumns {
            let from = Arbiter.Field(reference: reference, column: index)
            deferral[from] = nil
            guard let target = item.link(index, row[index]) else { continue }
            let isOwner = item.isElement && index == ElementColumn.owner
            guard arbiter.rows[target] == nil || isOwner && unseen.contains(target), target != reference else {
                arbiter.note(from, linksTo: target)
                continue
            }
            guard item.isOptional[index] else {
                lost += 1
                return
            }
            postpone(from, linkTo: target)
            row[index] = .null
        }
        let replaced = arbiter.trash.take(reference)
        // An object that the changeset itself put into the trash had a life within it.
        let isRestored = replaced != nil && lives[reference]?.isEmpty != false
        lives[reference, default: []].append(
            ObjectLife(old: nil, replaced: replaced, isRestored: isRestored, creation: position, last: row))
        arbiter.rows[reference] = row
        write(.insert(reference, row, defaults: defaults))
    }

    mutating func merge(
        _ fields: [FieldWrite], into reference: ObjectReference, _ item: ArbitratedClass,
        _ concurrent: ConcurrentWrites
    ) {
        guard var row = arbiter.rows[reference] else { return }
        var columns: [ColumnWrite] = []
        for field in fields {
            if item.isElement, field.column == ElementColumn.owner, field.value != row[field.column] {
                refuse("An element of \(item.item.name) can't move to another object's list.", item, reference)
                return
            }
            guard field.column != item.keyIndex else { continue }
            if !field.isDefault { written[reference, default: []].insert(field.column) }
            let wins =
                field.isDefault ? concurrent.letsDefaultReplace(field.column) : !concurrent.beats(field.column)
            guard wins else {
                lost += 1
                continue
            }
            written[reference, default: []].insert(field.column)
            var value = field.value
            let from = Arbiter.Field(reference: reference, column: field.column)
            if !deferral.isEmpty { deferral[from] = nil }
            if let target = item.link(field.column, value) {
                if arbiter.rows[target] != nil {
                    arbiter.note(from, linksTo: target)
                } else if item.isOptional[field.column] {
                    postpone(from, linkTo: target)
                    value = .null
                } else {
                    lost += 1
                    continue
                }
            }
            if case .int(let number) = value, case let added = concurrent.additions(to: field.column), added != 0 {
                let sum = number.addingReportingOverflow(added)
                value = .int(sum.partialValue)
                let write = FieldWrite(column: field.column, value: value)
                guard isPossible(write, overflows: sum.overflow, reference, item) else { return }
            }
            row[field.column] = value
            columns.append(
                ColumnWrite(column: field.column, value: value, mark: field.isDefault ? .byDefault : .set))
        }
        guard !columns.isEmpty else { return }
        arbiter.rows[reference] = row
        write(.update(reference, columns))
    }

    mutating func add(
        _ amount: Int64, to reference: ObjectReference, _ column: Int, _ item: ArbitratedClass,
        _ concurrent: ConcurrentWrites
    ) {
        guard var row = arbiter.rows[reference] else {
            lost += 1
            return
        }
        written[reference, default: []].insert(column)
        guard !concurrent.beats(column) else {
            lost += 1
            return
        }
        let current: Int64 = if case .int(let number) = row[column] { number } else { 0 }
        let sum = current.addingReportingOverflow(amount)
        let write = FieldWrite(column: column, value: .int(sum.partialValue))
        guard isPossible(write, overflows: sum.overflow, reference, item) else { return }
        row[column] = write.value
        arbiter.rows[reference] = row
        let isSummable = arbiter.sumsAdditions && arbiter.check.isSummable(column, of: reference)
        if isSummable, include(amount, in: reference, column, write.value) { return }
        self.write(.update(reference, [ColumnWrite(column: column, value: write.value, mark: .add(amount))]))
        if isSummable { sums[reference] = writes.count - 1 }
    }

    /// Includes an addition in the object's last write, if that's an addition too: an app may well count a thousand
    /// things in one transaction.
    private mutating func include(
        _ amount: Int64, in reference: ObjectReference, _ column: Int, _ value: Value
    ) -> Bool {
        guard let index = sums[reference], case .update(_, var columns) = writes[index] else { return false }
        var amount = amount
        let known = columns.firstIndex { $0.column == column }
        if let known, case .add(let earlier) = columns[known].mark {
            let sum = earlier.addingReportingOverflow(amount)
            guard !sum.overflow else { return false }
            amount = sum.partialValue
        }
        let write = ColumnWrite(column: column, value: value, mark: .add(amount))
        if let known { columns[known] = write } else { columns.append(write) }
        writes[index] = .update(reference, columns)
        positions[index] = position
        return true
    }

    /// Whether a property can hold a sum; refuses the instruction if not.
    private mutating func isPossible(
        _ write: FieldWrite, overflows: Bool, _ reference: ObjectReference, _ item: ArbitratedClass
    ) -> Bool {
        guard !overflows else {
            refuse("\(item.item.name).\(item.item.columns[write.column].name) would exceed 64 bits.", item, reference)
            return false
        }
        do throws(Refusal) {
            try arbiter.check.requireValid(write, of: reference, item.item)
            return true
        } catch {
            object(to: reference, error)
            return false
        }
    }

    mutating func refuse(
        _ message: String, _ item: ArbitratedClass, _ reference: ObjectReference, _ code: Refusal.Code = .invalid
    ) {
        object(to: reference, Refusal(code, message, className: item.item.name, key: reference.key))
    }

    /// The same refusal for everything that the user must not know about: objects they can't read, and objects in the trash.
    static func takenKey(_ reference: ObjectReference, _ item: ArbitratedClass) -> Refusal {
        Refusal(
            .constraint, "Another \(item.item.name) already has this primary key.", className: item.item.name,
            key: reference.key)
    }

    mutating func object(to reference: ObjectReference, _ refusal: Refusal) {
        impossible.append((position, reference, refusal))
    }

    mutating func write(_ write: RowWrite, at position: Int? = nil) {
        if !sums.isEmpty { sums[write.reference] = nil }
        writes.append(write)
        positions.append(position ?? self.position)
    }
}
