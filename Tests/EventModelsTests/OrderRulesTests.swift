import EventModels
import Testing
import TomboloChangesets
import TomboloModel
import TomboloRules

/// Rules about orders that ``MatrixTableTests`` doesn't cover, over HTTP and sync alike.
@Suite struct OrderRulesTests {
    private let rules = EventModels.rules
    private let schema = EventModels.schema

    private func index() throws -> Int { try #require(schema.index(of: "Order")) }

    private func order(of buyer: ObjectId?, in event: ObjectId = EventRulesTests.event) throws -> Row {
        let item = schema[try index()]
        var row = Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
        row[try #require(item.columnIndex("event"))] = .objectId(event)
        row[try #require(item.columnIndex("buyer"))] = buyer.map { .objectId($0) } ?? .null
        return row
    }

    @Test(
        "buyers can read their own orders whatever their role, in any event, and others' orders only through a box",
        arguments: [
            ("attendee", false), ("trackOrganizer", false), ("moderator", false), ("admin", false),
            ("registrar", true), ("coorganizer", true), ("organizer", true), ("owner", true),
        ])
    func reading(role: String, readsOthers: Bool) throws {
        let index = try index()
        let readable = rules.readable(EventRulesTests.subject(role))(index)
        func reads(_ buyer: ObjectId?, _ event: ObjectId) throws -> Bool {
            readable.matches(try order(of: buyer, in: event), of: schema[index])
        }
        for event in [EventRulesTests.event, EventRulesTests.otherEvent] {
            #expect(try reads(EventRulesTests.user, event))
            for other in [EventRulesTests.stranger, nil] {
                #expect(try reads(other, event) == (readsOthers && event == EventRulesTests.event))
            }
        }
    }

    @Test("visitors can't read or query orders")
    func visitors() throws {
        #expect(try rules.readable(.anonymous)(index()) == .constant(false))
    }

    @Test("buyers can't create, change or delete orders, not even their own")
    func buyersWriteNothing() throws {
        let index = try index()
        let permit = rules.permit(EventRulesTests.subject("attendee"))
        let own = try order(of: EventRulesTests.user)
        for request in [
            WriteRequest(operation: .create, classIndex: index, old: nil, new: own),
            WriteRequest(operation: .update, classIndex: index, old: own, new: own),
            WriteRequest(operation: .delete, classIndex: index, old: own, new: nil),
        ] {
            #expect(permit(request) != nil, "\(request.operation)")
        }
    }

    @Test("administrators can't see a trashed order, but restore it along with its event")
    func trash() throws {
        let resource = Resource.object(classIndex: try index(), old: try order(of: EventRulesTests.stranger), new: nil)
        let all: [TomboloRules.Operation] = [.trash, .listTrash, .restore, .purge, .init("audit")]
        func operations(_ role: String) -> [TomboloRules.Operation] {
            all.filter { rules.authorize(EventRulesTests.subject(role), $0, resource).isAllowed }
        }
        #expect(operations("superAdmin") == all)
        #expect(operations("admin") == [.trash, .restore])
        #expect(operations("owner") == [.trash])
        for role in ["organizer", "coorganizer", "registrar", "attendee"] { #expect(operations(role) == [], "\(role)") }
    }
}
