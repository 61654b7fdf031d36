extension Rules {
    /// The columns of a class, given by its position, that the subject may not change even if they may change the
    /// object.
    public func fixedColumns(_ subject: Subject, ofClassAt index: Int) -> Set<Int> {
        role(of: subject, index)?.fixedColumns ?? []
    }
}
