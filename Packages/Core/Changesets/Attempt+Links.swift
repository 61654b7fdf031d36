internal import TomboloModel

/// Links that an erase ends, and links to objects that are created later.
extension Arbiter.Attempt {
    /// Repeats on the loaded rows what the database's foreign keys do when an object is deleted. The changelog records
    /// these changes too.
    mutating func unlink(_ target: ObjectReference) {
        var waiting = [target]
        while let target = waiting.popLast() {
            endDeferredLinks(to: target)
            let referrers = arbiter.referrers.removeValue(forKey: target) ?? []
            endedReferrers[target, default: []] += referrers
            for field in referrers {
                let (reference, index) = (field.reference, field.column)
                guard arbiter.rows[reference]?[index] == target.key else { continue }
                let column = arbiter.schema[reference.classIndex].columns[index]
                let isNullified = column.isOptional && column.deleteRule == .nullify
                if isNullified {
                    arbiter.rows[reference]?[index] = .null
                } else {
                    remove(reference)
                    waiting.append(reference)
                }
                consequences.append(
                    LogEntry(
                        reference: reference, operation: isNullified ? .update : .erase,
                        marks: isNullified ? [index: .set] : [:], xid: .max, stamp: stamp, client: client))
            }
        }
    }

    /// Ends the deferred links to an object that is erased, so that they can't lead to a new object with its key. An
    /// object in the trash is still a row and keeps the links to it.
    mutating func endDeferredLinks(to target: ObjectReference) {
        guard !arbiter.schema[target.classIndex].isTrashable else { return }
        for index in deferralsTo.removeValue(forKey: target) ?? [] {
            let from = deferredLinks[index].from
            if deferral[from] == index { deferral[from] = nil }
        }
    }

    mutating func postpone(_ from: Arbiter.Field, linkTo target: ObjectReference) {
        deferral[from] = deferredLinks.count
        deferralsTo[target, default: []].append(deferredLinks.count)
        deferredLinks.append((from, target, position))
    }

    /// Sets the links to objects that a later instruction created; the others stay nil.
    mutating func setDeferredLinks() {
        for (index, (from, target, position)) in deferredLinks.enumerated() where deferral[from] == index {
            let (reference, column) = (from.reference, from.column)
            guard arbiter.rows[target] != nil, var row = arbiter.rows[reference], row[column].isNull else {
                continue
            }
            row[column] = target.key
            arbiter.note(from, linksTo: target)
            arbiter.rows[reference] = row
            write(
                .update(reference, [ColumnWrite(column: column, value: target.key, mark: .set)]), at: position)
        }
    }
}
