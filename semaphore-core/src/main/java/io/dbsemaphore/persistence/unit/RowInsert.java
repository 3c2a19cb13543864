package io.dbsemaphore.persistence.unit;

import java.util.ArrayList;
import java.util.List;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.metamodel.mapping.AttributeMapping;
import org.hibernate.metamodel.mapping.EntityIdentifierMapping;
import org.hibernate.metamodel.mapping.NonAggregatedIdentifierMapping;
import org.hibernate.metamodel.mapping.VirtualModelPart;
import org.hibernate.persister.entity.EntityPersister;
import org.jspecify.annotations.Nullable;

/**
 * Inserts many rows of an entity in one statement, with the table, columns and values of the entity's mapping.
 *
 * @param <E> the entity, which has basic attributes only, and a basic key or an {@link jakarta.persistence.IdClass}
 */
public final class RowInsert<E> {

    private static final int MAX_ROWS = 500;

    private final Sql sql;
    private final EntityIdentifierMapping key;
    private final boolean singleKey;
    private final List<AttributeMapping> attributes = new ArrayList<>();
    private final String insert;
    private final String row;

    public RowInsert(SessionFactoryImplementor sessionFactory, Class<E> entity, Sql sql) {
        this.sql = sql;
        EntityPersister mapping = sessionFactory.getMappingMetamodel().getEntityDescriptor(entity);
        key = mapping.getIdentifierMapping();
        List<String> columns = new ArrayList<>();
        if (key instanceof NonAggregatedIdentifierMapping idClass) {
            singleKey = false;
            idClass.getVirtualIdEmbeddable().forEachAttributeMapping((index, attribute) -> attributes.add(attribute));
        } else {
            singleKey = true;
            key.forEachSelectable((index, column) -> columns.add(column.getSelectionExpression()));
        }
        mapping.forEachAttributeMapping((index, attribute) -> {
            if (!(attribute instanceof VirtualModelPart)) { // which stands for the attributes of an @IdClass
                attributes.add(attribute);
            }
        });
        attributes.forEach(attribute ->
                attribute.forEachSelectable((index, column) -> columns.add(column.getSelectionExpression())));
        insert = "insert into " + mapping.getTableName() + "(" + String.join(", ", columns) + ") values ";
        row = Sql.placeholders(columns);
    }

    /** Queues the inserts for the next round trip of the transaction. */
    public void insertAll(List<E> rows) {
        for (int from = 0; from < rows.size(); from += MAX_ROWS) {
            List<E> part = rows.subList(from, Math.min(from + MAX_ROWS, rows.size()));
            List<@Nullable Object> values = new ArrayList<>(part.size() * (attributes.size() + 1));
            part.forEach(entity -> addValues(entity, values));
            sql.update(insert + Sql.repeat(row, ", ", part.size()), values);
        }
    }

    private void addValues(E entity, List<@Nullable Object> values) {
        if (singleKey) {
            values.add(key.getIdentifier(entity));
        }
        for (AttributeMapping attribute : attributes) {
            Object value = attribute.getValue(entity);
            values.add(value instanceof Enum<?> constant ? constant.name() : value);
        }
    }
}
