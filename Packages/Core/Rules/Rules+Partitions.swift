internal import TomboloModel

/// A session in a partition has the objects of that partition and no others, even if its roles permit more.
extension Rules {
    /// The condition, narrowed to the objects of the partition. Unchanged for a session that isn't in a partition.
    func within(_ partition: Value?, _ classIndex: Int, _ condition: Predicate) -> Predicate {
        guard let partition else { return condition }
        guard partitionProblem(partition, classIndex) == nil, let column = partitionColumn(classIndex) else {
            return .constant(false)
        }
        return .all([.compare(PropertyPath(column.name), .equal, partition), condition])
    }

    private func partitionColumn(_ classIndex: Int) -> Column? {
        partitionColumns[classIndex].map { schema[classIndex].columns[$0] }
    }

    /// Why the partition can't contain any object of a class, or the object with one of these rows; nil if it can.
    func partitionProblem(_ partition: Value, _ classIndex: Int, _ rows: [Row] = []) -> Wording? {
        guard let index = partitionColumns[classIndex], let column = partitionColumn(classIndex) else {
            return Wording(
                "the class has no partition key, so it isn't synchronised in Realms of a partition.")
        }
        do throws(ValueError) {
            try column.validate(partition, linkKeyType: schema.keyType(ofLink: column))
        } catch {
            return Wording("the Realm's partition is \(partition), and \(error.wording)")
        }
        for row in rows where row.values.indices.contains(index) && row[index] != partition {
            // The message doesn't reveal the partition of an object outside the session's own.
            return Wording(
                "its '\(column.name)' isn't the Realm's partition, \(partition); leave '\(column.name)' empty, or write "
                    + "the object in the Realm of its own partition.")
        }
        return nil
    }

    /// Adds what the rules say about the session apart from its roles.
    func addPartition(_ partition: Value, to hash: inout StableHash) {
        hash.add("partition")
        hash.add(partition)
        for index in partitionColumns.keys.sorted() {
            hash.add(schema[index].name)
            hash.add(partitionColumn(index)?.name ?? "")
        }
    }
}
