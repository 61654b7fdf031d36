import HummingbirdTesting
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel

/// Walks all routes with every class, so new routes are tested without being named here.
@Suite("The admin server reveals the trash only to those who may list it", .timeLimit(.minutes(15)))
struct TrashCrawlTests {
    /// Visitors that ask at the same time.
    private static let width = 3

    private typealias Baseline = [String: [TrashAnswer]]

    @Test("a trashed object and one that never existed get the same answers, on every route, as every role")
    func crawl() async throws {
        try await ServiceFixture.with { fixture in
            try await PanelBrowser.with(fixture) { app, client in
                try await TrashVisitor.addUsers(fixture)
                var plant = try await TrashPlant(fixture)
                var visitors: [TrashVisitor] = []
                for role in TrashVisitor.roles {
                    visitors.append(try await TrashVisitor(role, fixture, client, plant.types))
                }
                let plain = TrashPlainQuestions(plant: plant, routes: app.routes, someID: fixture.event).all()
                let before = try await Self.each(visitors) { visitor in
                    var answers: [TrashAnswer] = []
                    for question in plain.ofClasses { answers.append(try await visitor.ask(question)) }
                    return answers
                }

                try await plant.plant()
                let naming = TrashNamingQuestions(plant: plant, routes: app.routes)
                let writes = TrashWrites(
                    plant: plant, routes: app.routes, event: fixture.event, session: fixture.sessions[0])
                let owner = try #require(visitors.last)
                try await Self.checkThatQuestionsFind(plant, naming, owner)

                try await plant.trash()
                let rows = try await plant.rows()
                #expect(rows.count == plant.all.count && rows.count >= 11)
                let trashed = plant
                let problems = try await Self.each(visitors) { visitor in
                    var found = try await Self.compare(plain, before[visitor.name] ?? [], visitor, trashed)
                    for object in trashed.all {
                        let questions = naming.all(object) + writes.all(object)
                        found += try await Self.compare(questions, object, visitor)
                    }
                    return found
                }.flatMap { name, found in found.map { "\(name): \($0)" } }
                #expect(try await plant.rows() == rows)
                #expect(
                    problems.isEmpty,
                    "\(problems.count) answers tell:\n\(problems.sorted().prefix(40).joined(separator: "\n"))")
            }
        }
    }

    private static func each<Found: Sendable>(
        _ visitors: [TrashVisitor], _ body: @escaping @Sendable (TrashVisitor) async throws -> Found
    ) async throws -> [String: Found] {
        try await withThrowingTaskGroup(of: (String, Found).self) { group in
            var found: [String: Found] = [:]
            for (index, visitor) in visitors.enumerated() {
                if index >= width, let (name, one) = try await group.next() { found[name] = one }
                group.addTask { (visitor.name, try await body(visitor)) }
            }
            for try await (name, one) in group { found[name] = one }
            return found
        }
    }

    /// While the objects are live, the same questions must find them for super administrators; otherwise they would prove nothing.
    private static func checkThatQuestionsFind(
        _ plant: TrashPlant, _ naming: TrashNamingQuestions, _ owner: TrashVisitor
    ) async throws {
        var blind: [String] = []
        for object in plant.all {
            let questions = naming.all(object).filter(\.showsLive)
            #expect(questions.count >= 15)
            for question in questions {
                let answer = try await owner.ask(question)
                guard answer.status == 200, answer.contains(object.id.stringValue) || answer.contains(object.marker)
                else {
                    blind.append("\(question): \(answer.status)")
                    continue
                }
                let twin = try await owner.ask(question.map(object.twin)).map(object.original)
                if twin == answer.map({ $0 }) { blind.append("\(question): as of none") }
            }
        }
        #expect(blind.isEmpty, "\(blind.prefix(20).joined(separator: "\n"))")
    }

    /// Traces of trashed objects in answers that aren't about a particular one.
    private static func compare(
        _ plain: (ofClasses: [TrashQuestion], others: [TrashQuestion]), _ before: [TrashAnswer],
        _ visitor: TrashVisitor, _ plant: TrashPlant
    ) async throws -> [String] {
        var problems: [String] = []
        func check(_ question: TrashQuestion, _ answer: TrashAnswer) {
            for object in plant.all where !visitor.mayLearn(of: object, by: question) {
                for word in [object.marker, object.id.stringValue] where answer.contains(word) {
                    problems.append("\(question) shows \(word)")
                }
            }
        }
        for (index, question) in plain.ofClasses.enumerated() {
            let answer = try await visitor.ask(question)
            check(question, answer)
            if let difference = answer.difference(from: before[index]) { problems.append("\(question): \(difference)") }
        }
        for question in plain.others { check(question, try await visitor.ask(question)) }
        return problems
    }

    /// The differences between answers about a trashed object and those about one that never existed.
    private static func compare(
        _ questions: [TrashQuestion], _ object: TrashPlant.Planted, _ visitor: TrashVisitor
    ) async throws -> [String] {
        var problems: [String] = []
        for question in questions where !visitor.mayLearn(of: object, by: question) {
            let answer = try await visitor.ask(question).map { $0 }
            let twin = try await visitor.ask(question.map(object.twin)).map(object.original)
            if let difference = answer.difference(from: twin) { problems.append("\(question): \(difference)") }
        }
        return problems
    }
}
