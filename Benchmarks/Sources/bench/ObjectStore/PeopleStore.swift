/// The measured operations on people in a file. Results are compared with the other side's.
protocol PeopleStore {
    /// Inserts them in one transaction.
    func insert(_ people: [PersonValues]) throws
    /// Inserts each in its own transaction.
    func insertOneByOne(_ people: [PersonValues]) throws
    func rowCount() throws -> Int
    func count(olderThan age: Int) throws -> Int
    /// Reads everybody's name and age as `String` and `Int`.
    /// - Returns: the sum of the ages and of the names' lengths.
    func readAll() throws -> Int
    /// Finds each person by key and reads their age.
    /// - Returns: the sum of the ages.
    func lookUp(_ keys: [Int]) throws -> Int
    /// Reads each score and writes it raised by 1, in one transaction.
    func raiseScores() throws
    /// Deletes by a condition, in one transaction.
    func delete(ages: Range<Int>) throws
    /// Sorts everybody by score and reads the name and score of the first ones.
    /// - Returns: a checksum of what was read.
    func firstByScore(_ count: Int) throws -> Int
}
