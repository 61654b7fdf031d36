internal import TomboloModel

/// The promises of ``ServerStore``, one case each. A test runs every case:
///
///     @Test(arguments: ServerStoreCheck.allCases)
///     func keepsItsPromises(_ check: ServerStoreCheck) async throws { try await check.run(MyHarness.self) }
public enum ServerStoreCheck: String, CaseIterable, Sendable, CustomStringConvertible {
    case newDatabaseStandsAtTheOrigin = "A database without ticks stands at the origin"
    case tickFollowsAChange = "A change makes a tick, no change makes none"
    case readersSeeTheTick = "A reader sees the database as of its tick, whatever came later"
    case rowsComeBackUnchanged = "Values of every type come back as they were written"
    case predicatesSelect = "Rows, elements and counts follow the predicate"
    case differencesHaveBothImages = "A difference has the row before and after of every changed object"
    case differencesSkipWhatCameAndWent = "What was made and erased in between is in no difference"
    case differencesFollowLists = "A difference groups elements by the object that has the list"
    case differencesSurviveKeyReuse = "An object that was erased and made anew has both images"
    case clientsOpen = "Clients are opened once, by their user, with what the server knows"
    case readableIsKept = "What users could read is kept under its rules fingerprint"
    case uploadsApply = "Uploads create, change and erase"
    case progressIsAsOfTheTick = "Progress is as of the tick, and brings a tick of its own"
    case uploadsCountOnce = "The same changeset counts once; other numbers are gaps or conflicts"
    case copiedFilesAreNoticed = "A copied file's other changesets are conflicts, and nothing after them is applied"
    case basesMustBeKnown = "A base that is unknown or dropped is said to be so"
    case originNeedsAllThatHappened = "A base before all ticks is good while the changelog goes back to its beginning"
    case permissionIsAsked = "What is not permitted is refused, and does not block what follows"
    case permissionIsAskedForWhatLeavesNoTrace =
        "What a changeset makes and erases, or erases and makes again, is asked for"
    case unseenObjectsCountAsMissing = "A write to what its user may not read is answered as if that didn't exist"
    case constraintsRefuse = "A unique rule refuses one changeset and leaves the others of its group"
    case refusalsAreKeptUntilAcknowledged = "Refusals stay until the client acknowledges them"
    case differencesTellNewRefusals = "A difference tells which refusals are new, and only those are read"
    case laterEditWins = "Of concurrent edits to one field the later wins, whoever arrives first"
    case seenEditsCameBefore = "What the base sees came before, whatever the clocks say"
    case defaultsYield = "A default replaces only an earlier default that its device could not know"
    case futureStampsAreClamped = "A device's clock that is ahead wins nothing over later edits"
    case additionsAllCount = "Concurrent additions all count"
    case eraseWins = "A concurrent erase wins, and a create after it is a new object"
    case linksToErasedObjectsBecomeNil = "A link to an erased object becomes nil"
    case erasesEndLinksOfTheirChangeset =
        "An erase ends the links that its changeset made before, also when the object is made again"
    case listsMerge = "Concurrent list edits all count, and the owner's permission decides"
    case randomHistories = "Differences of a random history add up to the rows"

    public var description: String { rawValue }

    /// How many random histories a run plays.
    public static let randomSeeds: UInt64 = 10

    public func run<Harness: ServerStoreHarness>(_ type: Harness.Type) async throws {
        let schema = try ServerConformanceSchema.make()
        if self == .randomHistories {
            for seed in 1...Self.randomSeeds {
                try await ServerStoreHistory<Harness>.run(schema: schema, seed: seed)
            }
            return
        }
        let harness = try await Harness.make(schema: schema)
        do {
            try await ServerStoreScenario(harness: harness, schema: schema).run(self)
        } catch {
            try? await harness.finish()
            throw error
        }
        try await harness.finish()
    }
}
