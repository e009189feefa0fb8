/* Linked lists and trees: pointers, allocation, unions, bit fields. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    struct node *left;
    struct node *right;
    int key;
    unsigned red : 1;
    unsigned count : 7;
};

static struct node *insert(struct node *node, int key)
{
    if (!node) {
        struct node *fresh = calloc(1, sizeof *fresh);
        if (!fresh)
            abort();
        fresh->key = key;
        fresh->count = 1;
        return fresh;
    }
    if (key < node->key)
        node->left = insert(node->left, key);
    else if (key > node->key)
        node->right = insert(node->right, key);
    else
        node->count++;
    return node;
}

static int height(const struct node *node)
{
    if (!node)
        return 0;
    int left = height(node->left), right = height(node->right);
    return 1 + (left > right ? left : right);
}

static int walk(struct node *node)
{
    int sum = 0;
    if (node) {
        sum += walk(node->left);
        sum += node->key * (int)node->count;
        sum += walk(node->right);
        free(node);
    }
    return sum;
}

int main(void)
{
    static const int keys[] = {50, 30, 70, 20, 40, 60, 80, 30, 45, 20};
    struct node *root = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        root = insert(root, keys[i]);
    int high = height(root);
    printf("%d %d\n", high, walk(root));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
