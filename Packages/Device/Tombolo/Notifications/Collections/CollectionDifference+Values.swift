extension CollectionDifference {
    /// Up to this many elements, every element that stayed is found; beyond it, only those at the start and end.
    private static let maximumComparedCount = 512

    /// Compares two lists of values, which may contain duplicates. A value that replaces another is a modification.
    init<Element: Equatable>(from old: [Element], to new: [Element]) {
        let start = zip(old, new).prefix { $0 == $1 }.count
        let rest = min(old.count, new.count) - start
        let end = zip(old.reversed(), new.reversed()).prefix(rest).prefix { $0 == $1 }.count
        let (oldEnd, newEnd) = (old.count - end, new.count - end)
        let (oldMiddle, newMiddle) = (Array(old[start..<oldEnd]), Array(new[start..<newEnd]))
        var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
        if max(oldMiddle.count, newMiddle.count) <= Self.maximumComparedCount {
            for change in newMiddle.difference(from: oldMiddle) {
                switch change {
                case .remove(let offset, _, _): removed.insert(start + offset)
                case .insert(let offset, _, _): inserted.insert(start + offset)
                }
            }
        } else {
            removed = Set(start..<oldEnd)
            inserted = Set(start..<newEnd)
        }
        // Between two elements that stayed, deletions and insertions are paired as modifications.
        var (left, right) = (start, start)
        while left < oldEnd || right < newEnd {
            let isRemoved = removed.contains(left)
            let isInserted = inserted.contains(right)
            switch (isRemoved, isInserted) {
            case (true, true): modifications.append(left)
            case (true, false): deletions.append(left)
            case (false, true): insertions.append(right)
            case (false, false): break
            }
            if isRemoved || !isInserted { left += 1 }
            if isInserted || !isRemoved { right += 1 }
        }
    }
}
